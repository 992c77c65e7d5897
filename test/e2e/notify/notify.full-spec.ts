import { readdirSync, readFileSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { Notifying, startPlainServer } from '../../fixtures/notify-fixture.js';

const GENERIC = 'Something needs your permission to go on.';
const TOKEN = 'ExponentPushToken[phone-one]';
const SECRET = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`;
const READY = ['ready', '--session', 's1'] as const;
const VARIABLE = 'CLIENT_PUBLIC_REQUEST_PREVIEWS';

// Each line starts a separate process, and the machine may be busy.

let fixture: Notifying;

let server = await startPlainServer();

afterAll(() => server.stop());

beforeEach(async () => {
  fixture = await Notifying.start(server);
});

afterEach(() => fixture.stop());

const inFile = async (name: string, text: string): Promise<string> => {
  const file = join(fixture.user.home, name);
  await writeFile(file, text);
  return file;
};

const tokensLeft = async () => {
  const left = await fixture.ok<{ token: string }>('tokens', 'list');
  return left.map(({ token }) => token);
};

describe('gatehouse notify', () => {
  it('notifies phones and webhooks, and a standard library verifies the signature', async () => {
    const receiver = await fixture.webhook('hook', undefined, '--secret', SECRET);
    await fixture.registerToken(TOKEN);
    const states = await fixture.notify(
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
    const [message] = fixture.push.accepted;
    expect(message).toMatchObject({ to: TOKEN, data: { sessionId: 's1', requestId: 'r1' } });
    expect(message?.body).toBe('Bash needs your permission: npm test\nWhy: run the tests');
  });

  it('sends an event once, even if a hook repeats it', async () => {
    const receiver = await fixture.webhook('hook');
    const event = await inFile('event.json', '{"id":"e1","session":{"sessionId":"s1"}}');
    expect(await fixture.notify(0, 'ready', '--event-file', event)).toContain('webhook hook: sent');
    expect(await fixture.notify(0, 'ready', '--event-file', event)).toContain(
      'webhook hook: known',
    );
    expect(receiver.received).toHaveLength(1);
  });

  it('sends an event of each of two accounts that share a spool', async () => {
    const receiver = await fixture.webhook('hook');
    const other = await Notifying.start(fixture.server);
    const theirs = await other.webhook('hook');
    const env = { ...other.env, XDG_STATE_HOME: fixture.stateHome };
    await fixture.notify(0, ...READY, '--id', 'e1');
    const { stdout } = await other.user.run(['notify', ...READY, '--id', 'e1'], env);
    await other.stop();
    expect(stdout).toContain('webhook hook  sent');
    expect([receiver, theirs].map(({ received }) => received.length)).toEqual([1, 1]);
  });

  it('exits with 0 where preferences suppress it, and names them', async () => {
    const receiver = await fixture.webhook('hook', undefined, '--topics', 'permissionRequest');
    await fixture.registerToken(TOKEN);
    await fixture.ok('preferences', 'set', 'pushEnabled=off');
    expect(await fixture.notify(0, ...READY)).toEqual([
      'push …-one: suppressed',
      'webhook hook: suppressed',
    ]);
    await fixture.ok('channels', 'disable', 'hook');
    const asks = ['permission-request', '--session', 's1', '--request', 'r1'];
    const { stdout } = await fixture.run('notify', ...asks);
    expect(stdout).toMatch(/push …-one {2}not sent: push is switched off/);
    expect(stdout).toMatch(/webhook hook {2}not sent: the channel is disabled/);
    expect(receiver.received).toEqual([]);
  });

  it('sends generic texts from a release, whatever says that it is none', async () => {
    const receiver = await fixture.webhook('hook');
    await fixture.registerToken(TOKEN);
    const asks = ['permission-request', '--session', 's1', '--request', 'r1', '--command', 'ls /x'];
    const others = Object.fromEntries(
      Object.entries(fixture.env).filter(([name]) => name !== VARIABLE),
    );
    const env = { ...others, NODE_ENV: 'development', GATEHOUSE_RELEASE_BUILD: 'false' };
    await fixture.user.run(['notify', ...asks], env);
    const body = GENERIC;
    const request = { requestId: 'r1', kind: 'permission', toolDetails: null };
    expect(receiver.json).toMatchObject({ content: { body }, request });
    expect(receiver.received[0]?.rawBody.toString()).not.toContain('/x');
    expect(fixture.push.accepted).toMatchObject([{ body, data: { requestId: 'r1' } }]);
    const reason = 'releases send them only with CLIENT_PUBLIC_REQUEST_PREVIEWS=1';
    const { stdout: preferences } = await fixture.user.run(['preferences', 'get'], env);
    expect(preferences).toContain(`request previews in effect: off, because ${reason}`);
    const { stdout: doctor } = await fixture.user.run(['notify', 'doctor'], env);
    expect(doctor).toMatch(new RegExp(`off +previews: .*${reason}`));
  });

  it.each([
    [{ CLIENT_PUBLIC_REQUEST_PREVIEWS: '1' }, 'Bash needs your permission: npm test', ''],
    [{ CLIENT_PUBLIC_REQUEST_PREVIEWS: '' }, GENERIC, 'left out: releases send them only with'],
  ])('tests a webhook with what it prints, under %j', async (more, body, reason) => {
    const receiver = await fixture.webhook('hook');
    const env = { ...fixture.env, ...more };
    const example = ['channels', 'test', 'hook', '--topic', 'permissionRequest'];
    const sent = await fixture.user.run(example, env);
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining(`\n  ${body}\n`) });
    expect(sent.stdout).toContain(reason);
    expect(receiver.json).toMatchObject({ topic: 'permission_request', content: { body } });
    const test = await fixture.user.run(['channels', 'test', 'hook'], env);
    expect(receiver.received[1]?.rawBody.toString()).toContain('This is a test.');
    expect(test.stdout).toMatch(/This is a test.*\nA permission request arrives as:\n/);
    expect(test.stdout).toContain(`  ${body}\n`);
    expect((await fixture.user.run(['notify', '--help'], env)).stdout).toContain(
      `Texts of requests are ${reason === '' ? 'shown' : 'not sent: releases send them only with'}`,
    );
  });

  it('shows requests in a release that has previews switched on by the variable', async () => {
    const receiver = await fixture.webhook('hook');
    const asks = ['permission-request', '--session', 's1', '--request', 'r1', '--command', 'ls /x'];
    const env = { ...fixture.env, NODE_ENV: 'production' };
    await fixture.user.run(['notify', ...asks], env);
    expect(receiver.json).toMatchObject({ request: { toolDetails: 'Command: ls /x' } });
    const { stdout } = await fixture.user.run(['preferences', 'get', 'requestPreviews'], env);
    expect(stdout).toContain('because CLIENT_PUBLIC_REQUEST_PREVIEWS is on');
  });

  it('removes a token only on DeviceNotRegistered for that token', async () => {
    const other = 'ExponentPushToken[phone-two]';
    const third = 'ExponentPushToken[phone-three]';
    for (const token of [TOKEN, other, third]) {
      await fixture.registerToken(token);
    }
    fixture.push.ticketProblems.set(TOKEN, { error: 'DeviceNotRegistered', expoPushToken: TOKEN });
    fixture.push.ticketProblems.set(other, { error: 'DeviceNotRegistered', expoPushToken: third });
    fixture.push.ticketProblems.set(third, { error: 'InvalidCredentials' });
    await fixture.notify(1, ...READY);
    expect(await tokensLeft()).toEqual([third, other]);
  });

  it('disables a webhook whose receiver requests it', async () => {
    const headers = { 'webhook-delivery': 'disable' };
    const receiver = await fixture.webhook('hook', () => ({ status: 204, headers }));
    await fixture.notify(0, ...READY);
    expect(await fixture.notify(0, ...READY)).toContain('webhook hook: suppressed');
    expect(receiver.received).toHaveLength(1);
  });
});

describe('the input and settings of gatehouse notify', () => {
  it('reports an invalid event, sends nothing, and exits with 2', async () => {
    const { code, stderr } = await fixture.run('notify', 'permission-request', '--session', 's 1');
    expect(code).toBe(2);
    expect(stderr).toContain('--session must be 1 to 128 printable ASCII characters');
    expect(stderr).toContain('--request must be');
    expect((await fixture.run('notify', 'no-such-kind')).code).toBe(2);
    const missing = await fixture.run('notify', ...READY, '--event-file', '/nowhere');
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('/nowhere cannot') });
    for (const args of [
      ['notify', ...READY],
      ['channels', 'list'],
      ['preferences', 'get'],
    ]) {
      const unread = await fixture.run(...args, '--settings-file', '/nowhere');
      expect(unread).toMatchObject({ code: 2, stderr: expect.stringContaining('/nowhere cannot') });
    }
    const { configDirectory: folder } = fixture.user;
    const directory = await fixture.run(
      ...['preferences', 'set', 'ready=on', '--settings-file', folder],
    );
    expect(directory).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${folder} cannot`),
    });
    expect((await fixture.run('notify', ...READY, '--metadata', 'loose')).code).toBe(2);
    const file = await inFile('empty-secret', '\n');
    const unsigned = ['channels', 'add', 'http://127.0.0.1:1/', '--secret-file', file];
    expect(await fixture.run(...unsigned)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('secret is empty'),
    });
  });

  it('skips the invalid events of a file by their number, and sends the rest', async () => {
    const receiver = await fixture.webhook('hook');
    const good = '{"topic":"ready","session":{"sessionId":"s"}}';
    const file = await inFile('events', [good, '{broken', '{"topic":"party"}', good].join('\n'));
    const { code, stderr } = await fixture.run('notify', 'send', '--event-file', file);
    expect(code).toBe(2);
    expect(stderr).toContain('Event 2 is not a JSON object');
    expect(stderr).toContain('Event 3: topic must be one of');
    expect(receiver.received).toHaveLength(2);
    const lines = await fixture.lines<{ skipped?: string }>(
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

  it('reports invalid settings, channels and tokens, and notifies the rest', async () => {
    const receiver = await fixture.webhook('good');
    await fixture.registerToken('not-a-token');
    const channels = [{ id: 'bad', url: 'javascript:0' }, 7, { id: 'ok', url: receiver.url }];
    const file = await inFile(
      'settings.json',
      JSON.stringify({
        notificationsSettingsV1: { ready: 'perhaps' },
        notificationChannelsV1: channels,
      }),
    );
    const { code, stdout, stderr } = await fixture.run('notify', ...READY, '--settings-file', file);
    expect(code).toBe(1);
    expect(stdout).toContain('failed: This is not a push token');
    expect(stdout).toContain('webhook ok  sent');
    expect(stdout).toContain('webhook bad  failed: The channel needs a url');
    expect(stdout).toContain('webhook  failed: The channel is no channel.');
    expect(stderr).toContain('notificationsSettingsV1.ready must be true or false');
    expect(stderr).toContain('notificationChannelsV1[0] needs a url');
    expect(stderr).toContain('notificationChannelsV1[1] is no channel');
    expect(receiver.received).toHaveLength(1);
  });

  it('sends nothing if the settings are not JSON, and does not quote them', async () => {
    const file = await inFile('settings.json', '{"signingSecret": "hush",');
    await fixture.registerToken(TOKEN);
    const { code, stdout, stderr } = await fixture.run('notify', ...READY, '--settings-file', file);
    expect(code).toBe(1);
    expect(stdout).toContain('push …-one  failed: Cannot read the settings of');
    expect(stdout).toContain('webhook  failed: Cannot read the settings of');
    expect(stdout + stderr).not.toContain('hush');
    expect(fixture.push.accepted).toEqual([]);
  });

  it('exits with 3 when not logged in, and with 4 when the server does not answer', async () => {
    const gone = { ...fixture.env, GATEHOUSE_SERVER: 'http://127.0.0.1:1' };
    expect((await fixture.user.run(['notify', ...READY], gone)).code).toBe(3);
    const session = readdirSync(join(fixture.user.configDirectory, 'servers'));
    expect(session).toHaveLength(1);
    await server.kill('SIGKILL');
    expect((await fixture.run('notify', ...READY)).code).toBe(4);
    server = await server.restart();
  });
});

describe('the files of gatehouse notify', () => {
  it('is readable only by its owner, and the spool holds no signing secret', async () => {
    await fixture.ok('channels', 'add', 'http://127.0.0.1:1/', '--id', 'dead', '--secret', SECRET);
    await fixture.registerToken(TOKEN);
    await fixture.notify(1, ...READY);
    const paths = readdirSync(fixture.stateHome, { recursive: true, encoding: 'utf8' }).map(
      (path) => join(fixture.stateHome, path),
    );
    const files = paths.filter((path) => statSync(path).isFile());
    expect(files.length).toBeGreaterThanOrEqual(3);
    for (const path of paths) {
      const mode = (statSync(path).mode & 0o777).toString(8);
      expect([path, mode]).toEqual([path, files.includes(path) ? '600' : '700']);
    }
    const holding = files.filter((path) => readFileSync(path, 'utf8').includes(SECRET));
    // The settings and tokens of a plain account are stored for a day, in which the server may be
    // unavailable.
    expect(holding.filter((path) => !path.includes('/gatehouse/accounts/'))).toEqual([]);
  });

  it('prints neither secrets nor whole tokens, and redelivers under the same id', async () => {
    let status = 404;
    const receiver = await fixture.webhook('hook', () => ({ status }), '--secret', SECRET);
    const ntfy = await fixture.webhook('ntfy', undefined, '--preset', 'ntfy');
    await fixture.registerToken(TOKEN);
    await fixture.notify(1, ...READY);
    const [listed] = await fixture.ok<{ id: string }>('deliveries', 'list', '--state', 'failed');
    const id = listed?.id ?? '';
    const outputs = await Promise.all([
      fixture.run('deliveries', 'list'),
      fixture.run('deliveries', 'show', id),
      fixture.run('deliveries', 'show', ntfy.received[0]?.headers['webhook-id'] ?? ''),
      fixture.run('channels', 'list', '--json'),
    ]);
    const printed = outputs.map(({ stdout, stderr }) => `${stdout}${stderr}`).join('');
    expect(printed).toContain(id);
    expect(printed).not.toContain(SECRET);
    expect(printed).not.toContain(TOKEN);
    expect(printed).toContain('sequence_id');
    expect(printed).not.toContain('\\"topic\\":\\"hook');
    status = 204;
    const { stdout: table } = await fixture.run('deliveries', 'list', '--state', 'failed');
    expect(table).toContain(`webhook hook  ${id.slice(0, 12)}  `);
    expect(Math.max(...table.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(100);
    await fixture.ok('deliveries', 'redeliver', id.slice(0, 12));
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    expect((await fixture.run('deliveries', 'show', 'msg_unknown')).code).toBe(1);
  });
});
