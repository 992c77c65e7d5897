import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EVENTS_TARGET } from '../../../src/apps/cli/spool/spool-entry.js';
import { parseSpoolName } from '../../../src/apps/cli/spool/spool-name.js';
import { WebhookReceiver } from '../../fakes/webhook-receiver.js';
import { CLI } from '../../fixtures/programs/cli-fixture.js';
import { HostileRelay } from '../../helpers/hostile-relay.js';
import { TcpProxy } from '../../helpers/tcp-proxy.js';
import { waitFor } from '../../helpers/wait.js';
import { Notifying, startPlainServer, type EventLine } from '../../fixtures/notify-fixture.js';

const TOKEN = 'ExponentPushToken[outage]';
/** No service listens on this port. */
const CLOSED_PORT = 1;
const READY = ['ready', '--session', 's'];
const SETTINGS = /^GET \/v2\/account\/settings$/;
const TOKENS = /^GET \/v1\/push-tokens$/;

let proxy: TcpProxy;
let fixture: Notifying;

const server = await startPlainServer();

afterAll(() => server.stop());

beforeEach(async () => {
  proxy = await TcpProxy.start(server.port);
  fixture = await Notifying.start({ ...server, url: proxy.urlFor(server.url) });
});

afterEach(async () => {
  await fixture.stop();
  proxy.close();
});

const serverGoesAway = (): void => {
  proxy.leadTo(CLOSED_PORT);
  proxy.cut();
};

const state = (...path: string[]): string => join(fixture.stateHome, 'gatehouse', ...path);
const pendingEvents = (): string[] => {
  const directory = state('spool', 'queue');
  const names = existsSync(directory) ? readdirSync(directory) : [];
  return names.filter((name) => parseSpoolName(name)?.target === EVENTS_TARGET);
};

describe('gatehouse notify, while the server is unavailable', () => {
  it('sends webhooks and pushes with the last settings and tokens', async () => {
    const receiver = await fixture.webhook('hook', (_request, count) => ({
      status: count === 2 ? 503 : 204,
    }));
    await fixture.registerToken(TOKEN);
    await fixture.notify(0, ...READY);
    serverGoesAway();
    const away = await fixture.run('notify', ...READY, '--wait');
    expect(away).toMatchObject({ code: 0, stderr: expect.stringContaining('Cannot reach') });
    expect(away.stderr).toMatch(/settings and tokens of \d{4}-\d\d-\d\d \d\d:\d\d UTC are used/);
    // The retry needs the settings too, for the secret and the address.
    expect(receiver.received).toHaveLength(3);
    expect(fixture.push.accepted).toHaveLength(2);
    const [file = ''] = readdirSync(state('accounts'));
    const [directory, account] = [
      await stat(state('accounts')),
      await stat(state('accounts', file)),
    ];
    expect([directory.mode & 0o777, account.mode & 0o777]).toEqual([0o700, 0o600]);
  });

  it('keeps the event for later when no settings are known', async () => {
    const receiver = await fixture.webhook('hook');
    serverGoesAway();
    const away = await fixture.run('notify', ...READY, '--id', 'e1', '--no-background');
    expect(away).toMatchObject({ code: 4, stderr: expect.stringContaining('The events are kept') });
    expect(pendingEvents()).toHaveLength(1);
    const kept = { code: 4, stdout: '0 tried, 1 waiting.\n' };
    expect(await fixture.run('notify', 'flush')).toMatchObject(kept);
    const why = expect.stringContaining('Cannot reach') as unknown;
    const listed = { kind: 'event', target: 'e1', topic: 'ready', state: 'waiting', why };
    expect(await fixture.ok('deliveries', 'list', '--state', 'waiting')).toMatchObject([listed]);
    expect(pendingEvents()).toHaveLength(1);
    proxy.leadTo(server.port);
    expect((await fixture.run('notify', 'flush')).stdout).toContain('webhook hook  sent');
    expect(receiver.json).toMatchObject({ metadata: { eventId: 'e1' } });
    expect(pendingEvents()).toEqual([]);
    await fixture.notify(0, ...READY, '--id', 'e1');
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['a proxy answers 404 in place of the settings', { call: SETTINGS, status: 404 }],
    ['a push token is no text', { call: TOKENS, answer: () => ({ tokens: [{ id: 'x' }] }) }],
  ])('keeps the event where %s', async (_name, rule) => {
    const relay = await HostileRelay.start(server);
    const behind = await Notifying.start({ ...server, url: relay.url });
    await behind.registerToken(TOKEN);
    await behind.ok('preferences', 'set', 'pushEnabled=off');
    relay.change(rule);
    const away = await behind.run('notify', ...READY, '--no-background');
    relay.change();
    const { stdout } = await behind.run('notify', 'flush');
    await Promise.all([behind.stop(), relay.close()]);
    expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('The events are kept') });
    expect(stdout).toBe('0 tried, 0 waiting.\n');
    expect(behind.push.accepted).toEqual([]);
  });

  it('does not take a local settings file for the settings of the account', async () => {
    await fixture.registerToken(TOKEN);
    await fixture.ok('preferences', 'set', 'pushEnabled=off');
    const file = join(fixture.user.home, 'settings.json');
    await writeFile(file, '{}');
    await fixture.notify(0, ...READY, '--settings-file', file);
    serverGoesAway();
    expect(await fixture.run('notify', ...READY, '--no-background')).toMatchObject({ code: 4 });
    expect(fixture.push.accepted).toHaveLength(1);
    await fixture.notify(0, ...READY, '--settings-file', file);
    expect(fixture.push.accepted).toHaveLength(2);
  });

  it('sends a delivery however often its settings were not read in the meantime', async () => {
    const receiver = await fixture.webhook('hook', (_request, count) => ({
      status: count === 1 ? 503 : 204,
    }));
    await fixture.notify(1, ...READY);
    serverGoesAway();
    rmSync(state('accounts'), { recursive: true });
    for (let round = 0; round < 7; round += 1) {
      fixture.letTimePass();
      expect(await fixture.run('notify', 'flush')).toMatchObject({ code: 4 });
    }
    const [listed] = await fixture.ok('deliveries', 'list', '--state', 'waiting');
    expect(listed).toMatchObject({ attempts: 1, why: expect.stringContaining('Cannot reach') });
    proxy.leadTo(server.port);
    fixture.letTimePass();
    expect(await fixture.run('notify', 'flush')).toMatchObject({ code: 0 });
    expect(receiver.received).toHaveLength(2);
  });

  it('loses no event when the command is killed while it waits for the settings', async () => {
    const receiver = await fixture.webhook('hook');
    const silent = await WebhookReceiver.start(() => 'silence');
    proxy.leadTo(silent.port);
    proxy.cut();
    const command = fixture.start('notify', ...READY, '--id', 'e1', '--no-background');
    await waitFor('the event is on the disk', () => pendingEvents().length === 1);
    command.child.kill('SIGKILL');
    await command.exited;
    await silent.close();
    expect(receiver.received).toEqual([]);
    proxy.leadTo(server.port);
    expect((await fixture.run('notify', 'flush')).stdout).toContain('webhook hook  sent');
    expect(receiver.json).toMatchObject({ metadata: { eventId: 'e1' } });
    expect(pendingEvents()).toEqual([]);
  });

  it('does not revive what it returned more than a day ago, nor after a logout', async () => {
    await fixture.webhook('hook');
    await fixture.notify(0, ...READY);
    const [file = ''] = readdirSync(state('accounts'));
    const stored = JSON.parse(await readFile(state('accounts', file), 'utf8')) as object;
    const old = { ...stored, at: Date.now() - 86_400_001 };
    await writeFile(state('accounts', file), JSON.stringify(old));
    serverGoesAway();
    expect(await fixture.run('notify', ...READY, '--no-background')).toMatchObject({ code: 4 });
    proxy.leadTo(server.port);
    await fixture.notify(0, ...READY);
    expect(readdirSync(state('accounts'))).toHaveLength(1);
    await fixture.ok('logout');
    expect(readdirSync(state('accounts'))).toEqual([]);
  });
});

describe('gatehouse notify --detach', () => {
  it('returns once the event is on disk, and a background process sends it', async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((done) => (answer = done));
    const receiver = await fixture.webhook('hook', async () => {
      await answered;
      return { status: 204 };
    });
    const [line] = await fixture.ok('notify', ...READY, '--id', 'e1', '--detach');
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

describe('gatehouse notify, with a spool that cannot be written', () => {
  const run = (...args: string[]) =>
    // A file in the place of a directory has the effect of a read-only disk, also for root.
    fixture.user.run(['notify', ...READY, ...args], {
      ...fixture.env,
      XDG_STATE_HOME: '/dev/null/state',
    });

  it('sends every delivery that it can, and reports the result in the exit code', async () => {
    const receiver = await fixture.webhook('hook');
    await fixture.registerToken(TOKEN);
    for (const args of [[], ['--detach'], ['--wait']]) {
      const sent = await run(...args);
      expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining('cannot be written') });
      expect(sent.stdout).toContain('webhook hook  sent');
    }
    // The recursive mkdir of Node never ends there.
    const nowhere = { ...fixture.env, XDG_STATE_HOME: '/proc/nowhere' };
    const sent = await fixture.user.run(['notify', ...READY], nowhere);
    expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining('ENOENT') });
    expect(receiver.received).toHaveLength(4);
    expect(fixture.push.accepted).toHaveLength(4);
    await fixture.webhook('failing', () => ({ status: 500 }));
    expect(await run()).toMatchObject({ code: 1 });
    expect(receiver.received).toHaveLength(5);
  });
});

it('sends an event that a file repeats once, also where nothing can be stored', async () => {
  const receiver = await fixture.webhook('hook');
  const file = join(fixture.user.home, 'events.ndjson');
  const event = JSON.stringify({ id: 'e1', topic: 'ready', session: { sessionId: 's' } });
  await writeFile(file, `${event}\r\n${event}\r\n`);
  const env = { ...fixture.env, XDG_STATE_HOME: '/dev/null/state' };
  const sent = await fixture.user.run(['notify', 'send', '--event-file', file], env);
  expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining('cannot be written') });
  expect(receiver.received).toHaveLength(1);
});

describe('gatehouse notify, with a full disk', () => {
  it('sends every delivery that it can', async () => {
    const receiver = await fixture.webhook('hook');
    await fixture.registerToken(TOKEN);
    const { stdout, stderr } = await withFullDisk();
    expect(stdout).toContain('webhook hook  sent');
    expect(stderr).toContain('cannot be written (EFBIG)');
    expect(receiver.received).toHaveLength(1);
    expect(fixture.push.accepted).toHaveLength(1);
  });

  it('sends an event that is repeated only once', async () => {
    const receiver = await fixture.webhook('hook');
    await fixture.run('notify', ...READY, '--id', 'e1');
    const { stdout } = await withFullDisk('--id', 'e1');
    expect(stdout).toContain('webhook hook  already sent');
    expect(receiver.received).toHaveLength(1);
  });

  /** No file may grow: directories exist, but no file can be written. */
  function withFullDisk(...args: string[]) {
    const full = ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, CLI, 'notify', ...READY];
    const { PATH = '' } = process.env;
    const own = { PATH, HOME: fixture.user.home, XDG_CONFIG_HOME: `${fixture.user.home}/config` };
    return promisify(execFile)('sh', [...full, ...args], { env: { ...own, ...fixture.env } });
  }
});

describe('gatehouse notify, after a process was killed', () => {
  it('sends an event that is repeated, where the killed process did not report it as sent', async () => {
    const receiver = await fixture.webhook('hook', (_request, count) =>
      count === 1 ? 'silence' : { status: 204 },
    );
    const running = fixture.start('notify', ...READY, '--id', 'e1', '--no-background');
    await running.until(() => receiver.received.length === 1);
    // This attempt must not time out meanwhile.
    running.child.kill('SIGSTOP');
    const [meanwhile] = await fixture.ok<EventLine>(
      ...['notify', ...READY, '--id', 'e1', '--no-background'],
    );
    expect(meanwhile?.outcomes).toContainEqual(
      expect.objectContaining({ state: 'known', code: 'in-progress' }),
    );
    running.child.kill('SIGKILL');
    await running.exited;
    const states = () => fixture.notify(0, ...READY, '--id', 'e1');
    expect(await states()).toContain('webhook hook: sent');
    expect(await states()).toContain('webhook hook: known');
    expect(receiver.received).toHaveLength(2);
  });
});
