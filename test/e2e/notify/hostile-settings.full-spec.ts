import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Notifying, startPlainServer, type EventLine } from '../../fixtures/notify-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { HostileRelay } from '../../helpers/hostile-relay.js';

const TOKEN = 'ExponentPushToken[phone-one]';
const ASK = ['permission-request', '--session', 's', '--request', 'r', '--command', 'cat /secret'];
const SECRET = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`;
const SETTINGS = /^GET \/v2\/account\/settings$/;
const MODE = /^GET \/v1\/account\/(profile|encryption)$/;

let fixture: Notifying;

const server = await startServer();
const relay = await HostileRelay.start(server);
afterAll(async () => {
  await relay.close();
  await server.stop();
});
beforeEach(async () => {
  relay.change();
  fixture = await Notifying.start({ ...server, url: relay.url });
  await fixture.registerToken(TOKEN);
});
afterEach(() => fixture.stop());

const pinFile = (of = fixture): string => {
  const names = readdirSync(of.stored('.'));
  return of.stored(names.find((one) => one.startsWith('pin-')) ?? 'none');
};
const pin = () => JSON.parse(readFileSync(pinFile(), 'utf8')) as Record<string, unknown>;

/** From now on the server says that the account is plain, with settings of its own. */
function answerPlain(url: string): void {
  const channels = [{ id: 'evil', url, enabled: true }];
  const content = { t: 'plain', v: { notificationChannelsV1: channels } };
  relay.change(
    { call: SETTINGS, answer: (answer) => ({ ...answer, content }) },
    { call: MODE, answer: (answer) => ({ ...answer, mode: 'plain', encryptionMode: 'plain' }) },
  );
}

async function outcomes(code: number): Promise<string[]> {
  const lines = await fixture.lines<EventLine>(code, 'notify', ...ASK, '--no-background');
  return lines.flatMap((line) =>
    line.outcomes.map(({ target, state, code: why }) =>
      [target.kind, target.id, state, why].filter(Boolean).join(' '),
    ),
  );
}

const REFUSED = ['push …-one failed settings-refused', 'webhook failed settings-refused'];

async function refusal(...args: readonly string[]) {
  const { code, stderr } = await fixture.run(...args, '--json');
  const lines = stderr.trim().split('\n');
  const { error } = JSON.parse(lines.at(-1) ?? '{}') as { error?: { code: string; hint: string } };
  return { exit: code, code: error?.code, hint: error?.hint };
}

describe('a server that returns settings of its own', () => {
  it('gets no notification sent to its webhook', async () => {
    const receiver = await fixture.webhook('hook');
    await fixture.ok('channels', 'remove', 'hook');
    answerPlain(receiver.url);
    expect(await outcomes(1)).toEqual(REFUSED);
    expect([receiver.received, fixture.push.accepted]).toEqual([[], []]);
    const hint = expect.stringContaining('gatehouse encryption plain') as unknown;
    const refused = { exit: 1, code: 'settings-refused', hint };
    expect(await refusal('channels', 'list')).toEqual(refused);
    expect((await fixture.run('notify', 'doctor')).code).toBe(1);
    expect(receiver.received).toEqual([]);
  });

  it('receives no signing secret, and nothing else that is to be saved', async () => {
    await fixture.ok('preferences', 'set', 'ready=on');
    answerPlain('http://127.0.0.1:1/');
    const added = ['channels', 'add', 'https://hooks.example/x', '--secret', SECRET];
    for (const args of [added, ['preferences', 'set', 'ready=off'], ['encryption', 'e2ee']]) {
      expect(await refusal(...args)).toMatchObject({ exit: 1, code: 'settings-refused' });
    }
    const bodies = relay.received.map(({ body }) => body).join('\n');
    expect(bodies).not.toMatch(/whsec_|ready|hooks\.example|evil/);
    expect(relay.sent(/^POST .*settings|migrate/)).toEqual([]);
  });

  it('receives the first settings only sealed, whatever mode it names', async () => {
    relay.change({ call: MODE, answer: (answer) => ({ ...answer, encryptionMode: 'plain' }) });
    await fixture.ok('channels', 'add', 'https://hooks.example/x', '--secret', SECRET);
    const [body = ''] = relay.sent(/^POST \/v2\/account\/settings$/);
    expect(body).toMatch(/"t":"encrypted","c":"2\.1\./);
    expect(body).not.toContain('whsec_');
    expect(pin()).toMatchObject({ mode: 'e2ee', settings: { rev: 1 } });
  });

  it('gets no unsealed request of a computer with a key, of another account neither', async () => {
    const { token } = fixture.session;
    relay.change({
      call: /profile$/,
      answer: (answer) => ({ ...answer, id: 'made-up', encryptionMode: 'plain' }),
    });
    const env = { ...fixture.env, GATEHOUSE_TOKEN: token, GATEHOUSE_SERVER: relay.url };
    const input = {
      ...{ hook_event_name: 'PermissionRequest', session_id: 's1', cwd: '/' },
      ...{ tool_name: 'Bash', tool_input: { command: 'cat /secret' } },
    };
    const hook = ['hook', 'claude-code', '--when', 'always'];
    const { code, stderr } = await fixture.user.run(hook, env, JSON.stringify(input));
    expect([code, stderr]).toEqual([0, expect.stringContaining('no key of the account')]);
    expect(relay.sent(/^POST \/v1\/requests/)).toEqual([]);
  });
});

describe('a server that returns older settings', () => {
  /** Returns the stored settings as they are now, to be returned later. */
  const stored = async () => {
    let last: unknown = null;
    relay.change({ call: SETTINGS, answer: (answer) => ((last = answer['content']), answer) });
    await fixture.ok('channels', 'list');
    return last;
  };
  const answerWith = (content: unknown) =>
    relay.change({ call: SETTINGS, answer: (answer) => ({ ...answer, content }) });

  it('gets nothing sent', async () => {
    const receiver = await fixture.webhook('hook');
    const older = await stored();
    await fixture.ok('channels', 'remove', 'hook');
    answerWith(older);
    expect(await outcomes(1)).toEqual(REFUSED);
    const hint = expect.stringContaining('gatehouse preferences accept') as unknown;
    const refused = { exit: 1, code: 'settings-refused', hint };
    expect(await refusal('preferences', 'set', 'ready=off')).toEqual(refused);
    expect([receiver.received, fixture.push.accepted]).toEqual([[], []]);
  });

  it('has to be accepted by the person, and is then given a higher revision', async () => {
    await fixture.ok('preferences', 'set', 'ready=off');
    const older = await stored();
    await fixture.ok('preferences', 'set', 'ready=on');
    answerWith(older);
    const asked = await fixture.user.run(['preferences', 'accept'], fixture.env, 'n\n');
    expect(asked).toMatchObject({ code: 1 });
    expect(asked.stderr).toContain('There are no webhooks.');
    expect(relay.sent(/^POST .*settings/)).toEqual([]);
    const accepted = await fixture.user.run(['preferences', 'accept'], fixture.env, 'y\n');
    expect(accepted).toMatchObject({ code: 0 });
    expect(relay.sent(/^POST .*settings/)[0]).toContain('"c":"2.3.');
    relay.change();
    const { stdout } = await fixture.run('preferences', 'get', 'ready');
    expect(stdout).toContain('ready = off');
    expect((await fixture.run('preferences', 'accept')).stdout).toContain('nothing to accept');
  });

  it('is accepted with the number of devices that show text, of which the list may be gone', async () => {
    const older = await stored();
    await fixture.ok('tokens', 'confirm', TOKEN);
    const confirmed = await stored();
    await fixture.ok('preferences', 'set', 'ready=off');
    for (const [content, shown] of [
      [confirmed, '1 confirmed.'],
      [older, 'all, as none is'],
    ]) {
      answerWith(content);
      const { stderr } = await fixture.user.run(['preferences', 'accept'], fixture.env, 'n\n');
      expect(stderr).toContain(`Devices that show text: ${String(shown)}`);
    }
  });

  it('gets nothing sent by stored answers of before, while it is unreachable', async () => {
    await fixture.ok('preferences', 'set', 'requestPreviews=on');
    expect(await outcomes(0)).toContain('push …-one sent');
    await fixture.ok('preferences', 'set', 'requestPreviews=off');
    const sent = fixture.push.accepted.length;
    relay.change({ call: SETTINGS, answer: () => ({ content: 7 }) });
    expect((await fixture.run('notify', ...ASK, '--no-background')).code).not.toBe(0);
    expect(fixture.push.accepted).toHaveLength(sent);
  });
});

describe('a server that names another account for the key', () => {
  const OTHER = '11111111-1111-4111-8111-111111111111';
  /** From now on the server names the account, and says that it has no settings. */
  const nameOther = () => {
    relay.change(
      { call: /^POST \/v1\/auth$/, answer: (answer) => ({ ...answer, accountId: OTHER }) },
      { call: /profile$/, answer: (answer) => ({ ...answer, id: OTHER }) },
      { call: SETTINGS, answer: (answer) => ({ ...answer, content: null, version: 0 }) },
    );
  };
  const secretsSent = () => JSON.stringify(fixture.push.accepted).includes('cat /secret');

  beforeEach(async () => {
    // The pin of the account, and a receiver that the person did not confirm.
    await fixture.ok('tokens', 'confirm', TOKEN);
    await fixture.registerToken('ExponentPushToken[of-the-server]');
    nameOther();
  });

  it.each(['of this version', 'of an earlier version'])(
    'is refused at a login, and gets no text for its receiver, with files %s',
    async (files) => {
      if (files === 'of an earlier version') {
        rmSync(fixture.stored('key-account.json'));
      }
      expect(await refusal('login', '--server', relay.url)).toMatchObject({
        ...{ exit: 1, code: 'other-account' },
        hint: expect.stringContaining('key remove') as unknown,
      });
      expect(relay.sent(/^POST \/v1\/auth\/logout$/)).toHaveLength(1);
      expect(await outcomes(1)).toContain('webhook failed settings-refused');
      expect(secretsSent()).toBe(false);
    },
  );

  it.each(['no stored session', 'a stored session'])(
    'gets no text for the token of the environment, next to the key and %s',
    async (stored) => {
      const env = { GATEHOUSE_TOKEN: fixture.session.token, GATEHOUSE_SERVER: relay.url };
      if (stored === 'no stored session') {
        rmSync(fixture.stored('session.json'));
      }
      const args = ['notify', ...ASK, '--no-background'];
      expect(await fixture.user.run(args, { ...fixture.env, ...env })).toMatchObject({ code: 1 });
      expect(secretsSent()).toBe(false);
    },
  );

  it('may name another one after the key was removed and restored', async () => {
    const { stdout } = await fixture.run('key', 'show');
    await fixture.ok('key', 'remove', '--yes');
    const restored = ['key', 'restore', '--server', relay.url];
    expect(await fixture.user.run(restored, fixture.env, stdout)).toMatchObject({ code: 0 });
    await fixture.ok('login', '--server', relay.url);
    relay.change();
    expect(await refusal('login', '--server', relay.url)).toMatchObject({ code: 'other-account' });
  });
});

describe('the mode of an account', () => {
  it('is asked for once on a computer with a key, where the server can read the content', async () => {
    const plain = await startPlainServer();
    const other = await Notifying.start(plain);
    expect(await other.ok('encryption')).toEqual([
      { server: plain.url, mode: 'plain', pinned: 'plain' },
    ]);
    rmSync(pinFile(other));
    const add = ['channels', 'add', 'https://hooks.example/x', '--secret', SECRET];
    expect((await other.run(...add)).code).toBe(1);
    expect((await other.user.run(['encryption', 'plain'], {}, 'n\n')).code).toBe(1);
    expect((await other.user.run(['encryption', 'plain'], {}, 'y\n')).code).toBe(0);
    expect((await other.run(...add)).code).toBe(0);
    await other.stop();
    await plain.stop();
  });

  it('stays pinned when the key is removed, until the account is deleted', async () => {
    await fixture.ok('preferences', 'set', 'ready=on');
    await fixture.ok('key', 'remove', '--yes');
    answerPlain('http://127.0.0.1:1/');
    expect(await outcomes(1)).toEqual(REFUSED);
    relay.change();
    const file = pinFile();
    await fixture.ok('delete-account', '--yes');
    expect(existsSync(file)).toBe(false);
  });

  it('ends the command where the file of the pin is damaged', async () => {
    await fixture.ok('preferences', 'set', 'ready=on');
    writeFileSync(pinFile(), '{"mode": "other"}');
    expect(await refusal('channels', 'list')).toMatchObject({ exit: 78, code: 'damaged-file' });
  });
});
