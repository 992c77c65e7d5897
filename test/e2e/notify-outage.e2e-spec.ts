import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CLI } from '../helpers/cli.js';
import type { Server } from '../helpers/server.js';
import { TcpProxy } from '../helpers/tcp-proxy.js';
import { waitFor } from '../helpers/wait.js';
import { Notifying, startPlainServer, type EventLine } from './notify-world.js';

const TOKEN = 'ExponentPushToken[outage]';
/** Nothing listens there. */
const CLOSED_PORT = 1;
const READY = ['ready', '--session', 's'];

let server: Server;
let proxy: TcpProxy;
let world: Notifying;

beforeAll(async () => {
  server = await startPlainServer();
});

afterAll(() => server.stop());

beforeEach(async () => {
  proxy = await TcpProxy.start(server.port);
  world = await Notifying.start({ ...server, url: proxy.urlFor(server.url) });
});

afterEach(async () => {
  await world.stop();
  proxy.close();
});

const serverGoesAway = (): void => {
  proxy.leadTo(CLOSED_PORT);
  proxy.cut();
};

const state = (...path: string[]): string => join(world.stateHome, 'gatehouse', ...path);
const pendingEvents = (): string[] => {
  const directory = state('spool', 'events');
  return existsSync(directory) ? readdirSync(directory) : [];
};

describe('a server that is away', () => {
  it('stops neither webhooks nor pushes: the last settings and tokens count', async () => {
    const receiver = await world.webhook('hook', (_request, count) => ({
      status: count === 2 ? 503 : 204,
    }));
    await world.registerToken(TOKEN);
    await world.notify(0, ...READY);
    serverGoesAway();
    const away = await world.run('notify', ...READY, '--wait');
    expect(away).toMatchObject({ code: 0, stderr: expect.stringContaining('Cannot reach') });
    expect(away.stderr).toMatch(/settings and tokens of \d{4}-\d\d-\d\dT\S+Z are used/);
    // The retry too needs the settings, for the secret and the address.
    expect(receiver.received).toHaveLength(3);
    expect(world.push.accepted).toHaveLength(2);
    const [file = ''] = readdirSync(state('accounts'));
    const [directory, account] = [
      await stat(state('accounts')),
      await stat(state('accounts', file)),
    ];
    expect([directory.mode & 0o777, account.mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it('of which nothing is known gets the event later', async () => {
    const receiver = await world.webhook('hook');
    serverGoesAway();
    const away = await world.run('notify', ...READY, '--id', 'e1', '--no-background');
    expect(away).toMatchObject({ code: 4, stderr: expect.stringContaining('The events are kept') });
    expect(pendingEvents()).toHaveLength(1);
    expect(await world.run('notify', 'flush')).toMatchObject({ code: 0 });
    expect(pendingEvents()).toHaveLength(1);
    proxy.leadTo(server.port);
    expect((await world.run('notify', 'flush')).stdout).toContain('webhook hook  sent');
    expect(receiver.json).toMatchObject({ metadata: { eventId: 'e1' } });
    expect(pendingEvents()).toEqual([]);
    await world.notify(0, ...READY, '--id', 'e1');
    expect(receiver.received).toHaveLength(1);
  });

  it('does not revive what it returned more than a day ago, nor after a logout', async () => {
    await world.webhook('hook');
    await world.notify(0, ...READY);
    const [file = ''] = readdirSync(state('accounts'));
    const stored = JSON.parse(await readFile(state('accounts', file), 'utf8')) as object;
    const old = { ...stored, at: Date.now() - 86_400_001 };
    await writeFile(state('accounts', file), JSON.stringify(old));
    serverGoesAway();
    expect(await world.run('notify', ...READY, '--no-background')).toMatchObject({ code: 4 });
    proxy.leadTo(server.port);
    await world.notify(0, ...READY);
    expect(readdirSync(state('accounts'))).toHaveLength(1);
    await world.ok('logout');
    expect(readdirSync(state('accounts'))).toEqual([]);
  });
});

describe('gatehouse notify --detach', () => {
  it('returns once the event is on the disk, and a background process sends it', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((done) => (answer = done));
    const receiver = await world.webhook('hook', async () => {
      await answered;
      return { status: 204 };
    });
    const [line] = await world.ok('notify', ...READY, '--id', 'e1', '--detach');
    expect(line).toEqual({ spooled: ['e1'] });
    await waitFor('the webhook', () => receiver.received.length === 1);
    answer();
    await waitFor('no process is left', () =>
      readdirSync(state('spool')).every((name) => !name.startsWith('flusher.')),
    );
    expect(pendingEvents()).toEqual([]);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a spool that cannot be written', () => {
  const run = (...args: string[]) =>
    // As on a read-only disk, also for root: a file stands where a directory is needed.
    world.user.run(['notify', ...READY, ...args], {
      ...world.env,
      XDG_STATE_HOME: '/dev/null/state',
    });

  it('does not stop what can be sent, and the exit code says what was reached', async () => {
    const receiver = await world.webhook('hook');
    await world.registerToken(TOKEN);
    for (const args of [[], ['--detach'], ['--wait']]) {
      const sent = await run(...args);
      expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining('cannot be written') });
      expect(sent.stdout).toContain('webhook hook  sent');
    }
    expect(receiver.received).toHaveLength(3);
    expect(world.push.accepted).toHaveLength(3);
    await world.webhook('failing', () => ({ status: 500 }));
    expect(await run()).toMatchObject({ code: 1 });
    expect(receiver.received).toHaveLength(4);
  });
});

describe('a disk that is full', () => {
  it('does not stop what can be sent', async () => {
    const receiver = await world.webhook('hook');
    await world.registerToken(TOKEN);
    // No file may grow: every directory is there, and nothing can be written.
    const full = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, CLI, 'notify', ...READY];
    const { PATH = '' } = process.env;
    const own = { PATH, HOME: world.user.home, XDG_CONFIG_HOME: `${world.user.home}/config` };
    const { stdout, stderr } = await promisify(execFile)('sh', full, {
      env: { ...own, ...world.env },
    });
    expect(stdout).toContain('webhook hook  sent');
    expect(stderr).toContain('cannot be written (EFBIG)');
    expect(receiver.received).toHaveLength(1);
    expect(world.push.accepted).toHaveLength(1);
  });
});

describe('a process that was killed', () => {
  it('leaves an event that is sent, and not reported as sent, when it is repeated', async () => {
    const receiver = await world.webhook('hook', (_request, count) =>
      count === 1 ? 'silence' : { status: 204 },
    );
    const running = world.start('notify', ...READY, '--id', 'e1', '--no-background');
    await running.until(() => receiver.received.length === 1);
    // Its try does not run out of time meanwhile.
    running.child.kill('SIGSTOP');
    const [meanwhile] = await world.ok<EventLine>(
      ...['notify', ...READY, '--id', 'e1', '--no-background'],
    );
    expect(meanwhile?.outcomes).toContainEqual(
      expect.objectContaining({ state: 'known', code: 'in-progress' }),
    );
    running.child.kill('SIGKILL');
    await running.exited;
    const states = () => world.notify(0, ...READY, '--id', 'e1');
    expect(await states()).toContain('webhook hook: sent');
    expect(await states()).toContain('webhook hook: known');
    expect(receiver.received).toHaveLength(2);
  });
});
