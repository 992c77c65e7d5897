import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { DbusReader, DbusWriter, readDbusMessages, type DbusMessage } from './dbus-message.js';

const DBUS = '/usr/bin/dbus-daemon';
const NAME = 'org.freedesktop.Notifications';
const PATH = '/org/freedesktop/Notifications';
const BUS = { path: '/org/freedesktop/DBus', name: 'org.freedesktop.DBus' };
const CALL = 1;
const ANSWER = 2;
const ERROR = 3;
const SIGNAL = 4;

/** Whether the machine has D-Bus; where it must (CI), its absence is an error. */
export function hasDbus(): boolean {
  if (existsSync(DBUS)) {
    return true;
  }
  if (process.env['CI'] === 'true') {
    throw new Error('These tests need D-Bus. On Debian: apt-get install dbus-daemon');
  }
  process.stderr.write(
    'NOT RUN: clicks on notifications. On Debian: apt-get install dbus-daemon\n',
  );
  return false;
}

/** A notification as a desktop is asked to show it. */
export interface ShownNotification {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  /** Names and labels in turn; `default` is a click on the notification itself. */
  readonly actions: readonly string[];
}

/**
 * A desktop that shows notifications (the Desktop Notifications Specification of freedesktop.org) on
 * a message bus of its own: a click on one is a click for the browser, with its user activation.
 */
export class NotificationDaemon {
  readonly shown: ShownNotification[] = [];
  private serial = 0;

  private constructor(
    private readonly bus: ChildProcess,
    /** For `DBUS_SESSION_BUS_ADDRESS`. */
    readonly address: string,
    private readonly socket: Socket,
  ) {}

  static async start(): Promise<NotificationDaemon> {
    const bus = spawn(DBUS, ['--session', '--nofork', '--nopidfile', '--print-address=1'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const line = await new Promise<string>((done) =>
      bus.stdout.once('data', (data) => done(String(data))),
    );
    const address = line.trim();
    const path = /unix:path=([^,]+)/.exec(address)?.[1] ?? '';
    const socket = connect(path);
    const user = Buffer.from(String(process.getuid?.() ?? 0)).toString('hex');
    socket.write(`\0AUTH EXTERNAL ${user}\r\n`);
    await new Promise((done) => socket.once('data', done));
    socket.write('BEGIN\r\n');
    const daemon = new NotificationDaemon(bus, address, socket);
    readDbusMessages(socket, (message) => daemon.answer(message));
    daemon.send(CALL, { ...BUS, member: 'Hello', to: BUS.name });
    const asOwner = new DbusWriter().text(NAME).number(0);
    daemon.send(CALL, { ...BUS, member: 'RequestName', to: BUS.name, signature: 'su' }, asOwner);
    return daemon;
  }

  /** The person clicks on it. */
  click({ id }: ShownNotification): void {
    const where = { path: PATH, name: NAME, member: 'ActionInvoked', signature: 'us' };
    this.send(SIGNAL, where, new DbusWriter().number(id).text('default'));
  }

  async close(): Promise<void> {
    this.socket.destroy();
    const ended = new Promise((done) => this.bus.once('exit', done));
    this.bus.kill();
    await ended;
  }

  private answer({ type, member, sender, serial, body }: DbusMessage): void {
    if (type !== CALL) {
      return;
    }
    const reply = (signature: string, content: DbusWriter): void =>
      this.send(ANSWER, { to: sender, replyTo: serial, signature }, content);
    switch (member) {
      case 'GetCapabilities':
        return reply('as', new DbusWriter().texts(['actions', 'body']));
      case 'GetServerInformation':
        return reply(
          'ssss',
          ['test', 'test', '1', '1.2'].reduce((all, one) => all.text(one), new DbusWriter()),
        );
      case 'Notify':
        return reply('u', new DbusWriter().number(this.show(new DbusReader(body))));
      case 'CloseNotification':
        return reply('', new DbusWriter());
      default:
        return this.send(ERROR, {
          to: sender,
          replyTo: serial,
          error: 'org.freedesktop.DBus.Error.UnknownMethod',
        });
    }
  }

  private show(body: DbusReader): number {
    body.text();
    const replaced = body.number();
    body.text();
    const id = replaced === 0 ? this.shown.length + 1 : replaced;
    this.shown.push({ id, title: body.text(), body: body.text(), actions: body.texts() });
    return id;
  }

  private send(
    type: number,
    fields: Parameters<DbusWriter['message']>[2],
    body = new DbusWriter(),
  ): void {
    this.serial += 1;
    this.socket.write(body.message(type, this.serial, fields));
  }
}
