import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import {
  AccountContent,
  GatehouseClient,
  parseDeviceKey,
} from '../../../src/packages/client/index.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { Notifying, type EventLine } from '../../fixtures/notify-fixture.js';

const TOKEN = 'ExponentPushToken[phone-one]';
const OLD = `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}`;
const NEW = `whsec_${Buffer.from('another one, of some length').toString('base64')}`;
const READY = ['ready', '--session', 's1', '--message', 'the last words'];
const ASK = ['permission-request', '--session', 's', '--request', 'r', '--command', 'cat /secret'];

let fixture: Notifying;

const server = await startServer();
afterAll(() => server.stop());
beforeEach(async () => {
  fixture = await Notifying.start(server);
});
afterEach(() => fixture.stop());

/** Opens the account as an app does: with the key, over the network. */
async function app() {
  const { token, accountId } = fixture.session;
  const { stdout } = await fixture.user.run(['key', 'show']);
  const content = new AccountContent(parseDeviceKey(stdout.trim()), accountId);
  const { settings } = new GatehouseClient({ serverUrl: server.url, token });
  const read = async () => {
    const stored = await settings.read();
    return { ...stored, c: stored.content?.t === 'encrypted' ? stored.content.c : '' };
  };
  return {
    read,
    open: async () => content.openSettings((await read()).c).value as Record<string, unknown>,
    save: async (value: unknown) => {
      const { version, c: before } = await read();
      const rev = Number(/^2\.(\d+)\./.exec(before)?.[1] ?? 0) + 1;
      const c = typeof value === 'string' ? value : content.sealSettings(rev, value);
      expect(await settings.write({ t: 'encrypted', c }, version)).toMatchObject({ success: true });
    },
  };
}

async function states(code: number, ...args: readonly string[]): Promise<string[]> {
  const lines = await fixture.lines<EventLine>(code, 'notify', ...args, '--no-background');
  return lines.flatMap(({ outcomes }) =>
    outcomes.map(({ target, state, code: why }) =>
      [target.kind, target.id, state, why].filter(Boolean).join(' '),
    ),
  );
}

describe('the settings of an end-to-end encrypted account', () => {
  it('writes settings and signing secrets sealed, and reads them on another computer', async () => {
    await fixture.ok('preferences', 'set', 'readyIncludeMessageText=on', 'userActionRequest=off');
    await fixture.webhook('hook', undefined, '--secret', OLD);
    const stored = JSON.stringify(await (await app()).read());
    expect(stored).toContain('"c":"2.2.');
    expect(stored).not.toMatch(/readyInclude|whsec|127\.0\.0\.1/);
    expect(existsSync(fixture.stored('notifications.json'))).toBe(false);

    const other = await createCliUser();
    const { stdout: key } = await fixture.user.run(['key', 'show']);
    const at = ['--server', server.url];
    expect((await other.run(['key', 'restore', ...at], {}, key)).code).toBe(0);
    expect((await other.run(['login', ...at])).code).toBe(0);
    const preferences = await other.run(['preferences', 'get']);
    expect(preferences.stdout).toContain('readyIncludeMessageText = on');
    expect(preferences.stdout).toContain('userActionRequest = off');
    const channels = await other.run(['channels', 'list']);
    expect(channels.stdout).toContain('generic, signed');
    expect(channels.stderr).toContain('on the server, end-to-end encrypted.');
  });

  it('applies types, previews and secrets of the settings', async () => {
    await fixture.registerToken(TOKEN);
    const receiver = await fixture.webhook('hook', undefined, '--secret', OLD);
    await fixture.ok('preferences', 'set', 'requestPreviews=off', 'ready=off');
    expect(await states(0, ...READY)).toEqual(['push …-one suppressed', 'webhook hook sent']);
    expect(await states(0, ...ASK)).toEqual(['push …-one sent', 'webhook hook sent']);
    expect(JSON.stringify(fixture.push.accepted)).not.toContain('/secret');
    const { headers, rawBody } = receiver.received.at(-1)!;
    new Webhook(OLD).verify(rawBody.toString(), headers as Record<string, string>);
    expect(rawBody.toString()).toContain('/secret');
  });

  it('keeps simultaneous writes of another device, and fields of other programs', async () => {
    await (await app()).save({ theme: 'dark' });
    const args = ['ready=off', 'permissionRequest=off', 'userActionRequest=off'];
    await Promise.all(args.map((one) => fixture.ok('preferences', 'set', one)));
    expect(await (await app()).open()).toMatchObject({
      theme: 'dark',
      notificationsSettingsV1: { ready: false, permissionRequest: false, userActionRequest: false },
    });
  });

  it('imports the file of an earlier version, and removes it', async () => {
    const file = fixture.stored('notifications.json');
    const channels = [{ id: 'kept', url: 'http://127.0.0.1:1/' }];
    writeFileSync(file, JSON.stringify({ notificationChannelsV1: channels }));
    expect(await states(1, ...READY)).toContain('webhook kept waiting connection-refused');
    await fixture.ok('preferences', 'set', 'ready=on');
    expect(await (await app()).open()).toMatchObject({ notificationChannelsV1: channels });
    expect(existsSync(file)).toBe(false);
  });
});

describe('settings that cannot be opened', () => {
  const unreadable = [
    'push …-one failed settings-unreadable',
    'webhook failed settings-unreadable',
  ];

  it.each([
    ['another client encrypted them in its own form', 'c2VhbGVk'],
    ['they are of another key', new AccountContent(new Uint8Array(32), 'a').sealSettings(1, {})],
  ])('sends nothing where %s, and does not overwrite the settings', async (_why, c) => {
    await fixture.registerToken(TOKEN);
    const account = await app();
    await account.save(c);
    expect(await states(1, ...READY)).toEqual(unreadable);
    expect(fixture.push.accepted).toEqual([]);
    for (const args of [
      ['preferences', 'set', 'ready=on'],
      ['channels', 'add', 'http://127.0.0.1:1/'],
      ['preferences', 'get'],
    ]) {
      const { code, stderr } = await fixture.run(...args, '--json');
      expect(code).toBe(1);
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'settings-unreadable' } });
    }
    expect((await account.read()).c).toBe(c);
    const { code, stdout } = await fixture.run('notify', 'doctor');
    expect(code).toBe(1);
    expect(stdout).toContain('BROKEN  settings: Cannot read the settings of');
  });

  it('sends nothing without a device key, and follows --settings-file if given', async () => {
    await fixture.registerToken(TOKEN);
    await fixture.ok('preferences', 'set', 'ready=on');
    rmSync(fixture.stored('device-key.json'));
    expect(await states(1, ...READY)).toEqual(unreadable);
    const file = join(fixture.user.home, 'settings.json');
    writeFileSync(file, '{}');
    const named = [...READY, '--settings-file', file];
    expect((await states(0, ...named)).sort()).toEqual(['push …-one sent', 'webhook no-target']);
  });
});

describe('gatehouse channels set', () => {
  const stored = async () => {
    const { notificationChannelsV1: channels } = await (await app()).open();
    return (channels as Record<string, unknown>[])[0] ?? {};
  };

  it('changes the given options, and keeps the rest', async () => {
    await fixture.webhook('hook', undefined, '--secret', OLD, '--preset', 'ntfy');
    const other = await fixture.webhook('other');
    await fixture.ok('channels', 'remove', 'other');
    await fixture.ok('channels', 'set', 'hook', '--url', other.url, '--topics', 'ready');
    await fixture.ok('channels', 'set', 'hook', '--no-previews', '--message-text');
    expect(await stored()).toMatchObject({
      url: other.url,
      preset: 'ntfy',
      signingSecret: OLD,
      topics: { ready: true, permissionRequest: false, userActionRequest: false },
      requestPreviews: false,
      readyIncludeMessageText: true,
    });
    expect(await states(0, ...READY)).toEqual(['push no-target', 'webhook hook sent']);
    expect(await states(0, ...ASK)).toEqual(['push no-target', 'webhook hook suppressed']);
    expect(other.received).toHaveLength(1);
  });

  it('replaces the secret, and signs with the previous one for a day too', async () => {
    const receiver = await fixture.webhook('hook', undefined, '--secret', OLD);
    await fixture.ok('channels', 'set', 'hook', '--secret', NEW);
    expect(await stored()).toMatchObject({ signingSecret: NEW, previousSigningSecret: OLD });
    const valid = () => {
      const { headers, rawBody } = receiver.received.at(-1)!;
      return [OLD, NEW].map((secret) => {
        try {
          new Webhook(secret).verify(rawBody.toString(), headers as Record<string, string>);
          return true;
        } catch {
          return false;
        }
      });
    };
    await fixture.notify(0, ...READY);
    expect(valid()).toEqual([true, true]);
    const account = await app();
    const { previousSigningSecretExpiresAt: expiresAt } = await stored();
    expect(Math.round((Number(expiresAt) - Date.now()) / 3_600_000)).toBe(24);
    const expired = { ...(await stored()), previousSigningSecretExpiresAt: Date.now() - 1 };
    await account.save({ notificationChannelsV1: [expired] });
    await fixture.notify(0, ...READY);
    expect(valid()).toEqual([false, true]);
  });

  it.each([
    [2, 'usage', []],
    [2, 'usage', ['--url', 'javascript:0']],
    [2, 'usage', ['--topics', 'party']],
    [1, 'not-found', ['--no-previews']],
  ] as const)('exits with %s (%s) on %j', async (code, name, args) => {
    const id = name === 'not-found' ? 'unknown' : 'hook';
    await fixture.ok('channels', 'add', 'http://127.0.0.1:1/', '--id', 'hook');
    const before = await (await app()).read();
    const result = await fixture.run('channels', 'set', id, ...args, '--json');
    expect(result.code).toBe(code);
    expect(JSON.parse(result.stderr)).toMatchObject({ error: { code: name } });
    expect(await (await app()).read()).toEqual(before);
  });
});
