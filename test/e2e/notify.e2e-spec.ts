import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { Server } from '../helpers/server.js';
import { waitFor } from '../helpers/wait.js';
import { Notifying, startPlainServer } from './notify-world.js';

const TOKEN = 'ExponentPushToken[phone-one]';
const SECRET = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`;
const READY = ['ready', '--session', 's1'] as const;

// Every line of these is a process of its own, and machines are busy.

let server: Server;
let world: Notifying;

beforeAll(async () => {
  server = await startPlainServer();
});

afterAll(() => server.stop());

beforeEach(async () => {
  world = await Notifying.start(server);
});

afterEach(() => world.stop());

const inFile = async (name: string, text: string): Promise<string> => {
  const file = join(world.user.home, name);
  await writeFile(file, text);
  return file;
};

const tokensLeft = async () => {
  const left = await world.ok<{ token: string }>('tokens', 'list');
  return left.map(({ token }) => token);
};

describe('gatehouse notify', () => {
  it('notifies phones and webhooks, and a standard library verifies the signature', async () => {
    const receiver = await world.webhook('hook', undefined, '--secret', SECRET);
    await world.registerToken(TOKEN);
    const states = await world.notify(
      0,
      ...['permission-request', '--session', 's1', '--title', 'Build', '--request', 'r1'],
      ...['--tool', 'Bash', '--command', 'npm test', '--explanation', 'run the tests'],
    );
    expect(states).toEqual(['push …-one: sent', 'webhook hook: sent']);
    const [request] = receiver.received;
    const { headers, rawBody } = request ?? { headers: {}, rawBody: Buffer.of() };
    expect(
      new Webhook(SECRET).verify(rawBody.toString(), headers as Record<string, string>),
    ).toMatchObject({
      topic: 'permission_request',
      request: { requestId: 'r1', toolName: 'Bash' },
    });
    const [message] = world.push.accepted;
    expect(message).toMatchObject({ to: TOKEN, data: { sessionId: 's1', requestId: 'r1' } });
    expect(message?.body).toBe('Bash needs your permission: npm test\nWhy: run the tests');
  });

  it('sends an event once, however often a hook repeats it', async () => {
    const receiver = await world.webhook('hook');
    const event = await inFile('event.json', '{"id":"e1","session":{"sessionId":"s1"}}');
    expect(await world.notify(0, 'ready', '--event-file', event)).toContain('webhook hook: sent');
    expect(await world.notify(0, 'ready', '--event-file', event)).toContain('webhook hook: known');
    expect(receiver.received).toHaveLength(1);
  });

  it('ends with 0 where preferences keep it silent, and says which', async () => {
    const receiver = await world.webhook('hook', undefined, '--topics', 'permissionRequest');
    await world.registerToken(TOKEN);
    await world.ok('preferences', 'set', 'pushEnabled=off');
    expect(await world.notify(0, ...READY)).toEqual([
      'push …-one: suppressed',
      'webhook hook: suppressed',
    ]);
    await world.ok('channels', 'disable', 'hook');
    const asks = ['permission-request', '--session', 's1', '--request', 'r1'];
    const { stdout } = await world.run('notify', ...asks);
    expect(stdout).toMatch(/push …-one {2}not sent: push is switched off/);
    expect(stdout).toMatch(/webhook hook {2}not sent: the channel is disabled/);
    expect(receiver.received).toEqual([]);
  });

  it.each([
    [{ CLIENT_PUBLIC_REQUEST_PREVIEWS: '0' }, 'CLIENT_PUBLIC_REQUEST_PREVIEWS is off'],
    [{ NODE_ENV: 'production' }, 'NODE_ENV is production'],
  ])('keeps requests to itself in a build without previews: %j', async (variables, reason) => {
    const receiver = await world.webhook('hook');
    const asks = ['permission-request', '--session', 's1', '--request', 'r1', '--command', 'ls /x'];
    const env = { ...world.env, ...variables };
    await world.user.run(['notify', ...asks], env);
    expect(receiver.json).toMatchObject({ request: { requestId: 'r1', toolDetails: null } });
    expect(receiver.received[0]?.rawBody.toString()).not.toContain('/x');
    const { stdout: preferences } = await world.user.run(['preferences', 'get'], env);
    expect(preferences).toContain(`request previews in effect: off, because ${reason}`);
    const { stdout: doctor } = await world.user.run(['notify', 'doctor'], env);
    expect(doctor).toMatch(new RegExp(`off +previews: .*${reason}`));
  });

  it('shows requests in a production build that has previews switched on', async () => {
    const receiver = await world.webhook('hook');
    const asks = ['permission-request', '--session', 's1', '--request', 'r1', '--command', 'ls /x'];
    const env = { ...world.env, NODE_ENV: 'production', CLIENT_PUBLIC_REQUEST_PREVIEWS: '1' };
    await world.user.run(['notify', ...asks], env);
    expect(receiver.json).toMatchObject({ request: { toolDetails: 'Command: ls /x' } });
    const { stdout } = await world.user.run(['preferences', 'get', 'requestPreviews'], env);
    expect(stdout).toContain('because CLIENT_PUBLIC_REQUEST_PREVIEWS is on');
  });

  it('removes a token on DeviceNotRegistered for that very token, and for nothing else', async () => {
    const other = 'ExponentPushToken[phone-two]';
    const third = 'ExponentPushToken[phone-three]';
    for (const token of [TOKEN, other, third]) {
      await world.registerToken(token);
    }
    world.push.ticketProblems.set(TOKEN, { error: 'DeviceNotRegistered', expoPushToken: TOKEN });
    world.push.ticketProblems.set(other, { error: 'DeviceNotRegistered', expoPushToken: third });
    world.push.ticketProblems.set(third, { error: 'InvalidCredentials' });
    await world.notify(1, ...READY);
    expect(await tokensLeft()).toEqual([third, other]);
  });

  it('disables a webhook that asks for it', async () => {
    const headers = { 'webhook-delivery': 'disable' };
    const receiver = await world.webhook('hook', () => ({ status: 204, headers }));
    await world.notify(0, ...READY);
    expect(await world.notify(0, ...READY)).toContain('webhook hook: suppressed');
    expect(receiver.received).toHaveLength(1);
  });

  it('waits with --wait until a webhook that failed has it, under the same id', async () => {
    const receiver = await world.webhook('hook', (_request, count) => ({
      status: count === 1 ? 500 : 204,
    }));
    expect(await world.notify(0, ...READY, '--wait')).toContain('webhook hook: sent');
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(receiver.received).toHaveLength(2);
  });

  it('leaves a process behind that retries, and no other beside it', async () => {
    const receiver = await world.webhook('hook', (_request, count) => ({
      status: count <= 2 ? 500 : 204,
    }));
    await world.run('notify', ...READY);
    await world.run('notify', ...READY);
    await waitFor('both tries of both', () => receiver.received.length === 4);
  });
});

describe('what notify is given', () => {
  it('names what is wrong with an event, sends nothing, and ends with 2', async () => {
    const { code, stderr } = await world.run('notify', 'permission-request', '--session', 's 1');
    expect(code).toBe(2);
    expect(stderr).toContain('--session must be 1 to 128 printable ASCII characters');
    expect(stderr).toContain('--request must be');
    expect((await world.run('notify', 'no-such-kind')).code).toBe(2);
    const missing = await world.run('notify', ...READY, '--event-file', '/nowhere');
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('/nowhere cannot') });
    for (const args of [
      ['notify', ...READY],
      ['channels', 'list'],
      ['preferences', 'get'],
    ]) {
      const unread = await world.run(...args, '--settings-file', '/nowhere');
      expect(unread).toMatchObject({ code: 2, stderr: expect.stringContaining('/nowhere cannot') });
    }
    const directory = await world.run('preferences', 'set', 'ready=on', '--settings-file', '/tmp');
    expect(directory).toMatchObject({ code: 2, stderr: expect.stringContaining('/tmp cannot') });
    expect((await world.run('notify', ...READY, '--metadata', 'loose')).code).toBe(2);
    const file = await inFile('empty-secret', '\n');
    const unsigned = ['channels', 'add', 'http://127.0.0.1:1/', '--secret-file', file];
    expect(await world.run(...unsigned)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('secret is empty'),
    });
  });

  it('skips the broken events of a file by their number, and sends the rest', async () => {
    const receiver = await world.webhook('hook');
    const good = '{"topic":"ready","session":{"sessionId":"s"}}';
    const file = await inFile('events', [good, '{broken', '{"topic":"party"}', good].join('\n'));
    const { code, stderr } = await world.run('notify', 'send', '--event-file', file);
    expect(code).toBe(2);
    expect(stderr).toContain('Event 2 is not a JSON object');
    expect(stderr).toContain('Event 3: topic must be one of');
    expect(receiver.received).toHaveLength(2);
    const lines = await world.lines<{ skipped?: string }>(
      2,
      'notify',
      'send',
      '--event-file',
      file,
    );
    expect(lines.flatMap(({ skipped = [] }) => skipped)).toEqual([
      expect.stringContaining('Event 2'),
      expect.stringContaining('Event 3'),
    ]);
  });

  it('names broken settings, channels and tokens, and serves the rest', async () => {
    const receiver = await world.webhook('good');
    await world.registerToken('not-a-token');
    const channels = [{ id: 'bad', url: 'javascript:0' }, 7, { id: 'ok', url: receiver.url }];
    const file = await inFile(
      'settings.json',
      JSON.stringify({
        notificationsSettingsV1: { ready: 'perhaps' },
        notificationChannelsV1: channels,
      }),
    );
    const { code, stdout, stderr } = await world.run('notify', ...READY, '--settings-file', file);
    expect(code).toBe(1);
    expect(stdout).toContain('failed: This is no push token');
    expect(stdout).toContain('webhook ok  sent');
    expect(stdout).toContain('webhook bad  failed: The channel needs a url');
    expect(stdout).toContain('webhook  failed: The channel is no channel.');
    expect(stderr).toContain('notificationsSettingsV1.ready must be true or false');
    expect(stderr).toContain('notificationChannelsV1[0] needs a url');
    expect(stderr).toContain('notificationChannelsV1[1] is no channel');
    expect(receiver.received).toHaveLength(1);
  });

  it('sends nothing by settings that are no JSON, and does not quote them', async () => {
    const file = await inFile('settings.json', '{"signingSecret": "hush",');
    await world.registerToken(TOKEN);
    const { code, stdout, stderr } = await world.run('notify', ...READY, '--settings-file', file);
    expect(code).toBe(1);
    expect(stdout).toContain('push …-one  failed: Cannot read the settings of');
    expect(stdout).toContain('webhook  failed: Cannot read the settings of');
    expect(stdout + stderr).not.toContain('hush');
    expect(world.push.accepted).toEqual([]);
  });

  it('ends with 3 when not logged in, and with 4 when the server does not answer', async () => {
    const gone = { ...world.env, GATEHOUSE_SERVER: 'http://127.0.0.1:1' };
    expect((await world.user.run(['notify', ...READY], gone)).code).toBe(3);
    const session = readdirSync(join(world.user.configDirectory, 'servers'));
    expect(session).toHaveLength(1);
    await server.kill('SIGKILL');
    expect((await world.run('notify', ...READY)).code).toBe(4);
    server = await server.restart();
  });
});

describe('what is kept on disk', () => {
  it('is readable by its owner alone, and the spool holds no signing secret', async () => {
    await world.ok('channels', 'add', 'http://127.0.0.1:1/', '--id', 'dead', '--secret', SECRET);
    await world.registerToken(TOKEN);
    await world.notify(1, ...READY);
    const paths = readdirSync(world.stateHome, { recursive: true, encoding: 'utf8' }).map((path) =>
      join(world.stateHome, path),
    );
    const files = paths.filter((path) => statSync(path).isFile());
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const path of paths) {
      const mode = (statSync(path).mode & 0o777).toString(8);
      expect([path, mode]).toEqual([path, files.includes(path) ? '600' : '700']);
    }
    const holding = files.filter((path) => readFileSync(path, 'utf8').includes(SECRET));
    // What the server returned of a plain account, for a day in which it may be away.
    expect(holding.filter((path) => !path.includes('/gatehouse/accounts/'))).toEqual([]);
  });

  it('shows neither secrets nor whole tokens, and redelivers under the same id', async () => {
    let status = 404;
    const receiver = await world.webhook('hook', () => ({ status }), '--secret', SECRET);
    await world.registerToken(TOKEN);
    await world.notify(1, ...READY);
    const [listed] = await world.ok<{ id: string }>('deliveries', 'list', '--state', 'failed');
    const id = listed?.id ?? '';
    const outputs = await Promise.all([
      world.run('deliveries', 'list'),
      world.run('deliveries', 'show', id),
      world.run('channels', 'list', '--json'),
    ]);
    const printed = outputs.map(({ stdout, stderr }) => `${stdout}${stderr}`).join('');
    expect(printed).toContain(id);
    expect(printed).not.toContain(SECRET);
    expect(printed).not.toContain(TOKEN);
    status = 204;
    await world.ok('deliveries', 'redeliver', id);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    expect((await world.run('deliveries', 'show', 'msg_unknown')).code).toBe(1);
  });
});
