import { randomBytes } from 'node:crypto';
import { AccountContent } from '../client/crypto/account-content.js';
import { readPreferences } from './preferences.js';
import { openSettings, SettingsUnreadable } from '../client/settings/account-settings.js';
import { InvalidEvent, readEvent, readRequestDetails } from './content/read-event.js';
import { notify } from './notify.js';
import {
  anEvent,
  NOW,
  pushToken,
  saved,
  settingsWith,
} from '../../../test/fixtures/notification-fixture.js';

const URL_OK = 'https://hook.example/';
const ON = { ready: true, permission_request: true, user_action_request: true };

describe(readPreferences.name, () => {
  it.each([
    undefined,
    null,
    {},
    { notificationsSettingsV1: {} },
    { notificationsSettingsV1: null },
  ])('fills %j with the defaults of the contract', (settings) => {
    expect(readPreferences(settings)).toEqual({
      push: { enabled: true, topics: ON, readyIncludeMessageText: false, requestPreviews: true },
      foregroundBehavior: 'full',
      receivers: null,
      webPushKey: null,
      channels: [],
      brokenChannels: [],
      problems: [],
    });
  });

  it('fills a channel with the defaults of the contract', () => {
    expect(readPreferences(settingsWith([{ url: URL_OK }])).channels).toEqual([
      {
        id: 'channel-1',
        url: URL_OK,
        preset: 'generic',
        secrets: [],
        enabled: true,
        topics: ON,
        readyIncludeMessageText: false,
        requestPreviews: true,
      },
    ]);
  });

  it('reads both secrets of a rotation, the newest first', () => {
    const rotating = { url: URL_OK, signingSecret: 'new', previousSigningSecret: 'old' };
    const [channel] = readPreferences(settingsWith([rotating])).channels;
    expect(channel?.secrets).toEqual(['new', 'old']);
  });

  it.each([
    [1_000, 999, ['new', 'old']],
    [1_000, 1_000, ['new']],
    [null, 1_000, ['new', 'old']],
  ])('uses the previous secret until it expires: %j at %j', (expiresAt, now, secrets) => {
    const signing = { signingSecret: 'new', previousSigningSecret: 'old' };
    const rotating = { url: URL_OK, ...signing, previousSigningSecretExpiresAt: expiresAt };
    expect(readPreferences(settingsWith([rotating]), now).channels[0]?.secrets).toEqual(secrets);
  });

  it.each([{}, { signingSecret: null }, { signingSecret: '' }])(
    'signs nothing with the previous secret only, and reports it: %j',
    (signing) => {
      const alone = { url: URL_OK, ...signing, previousSigningSecret: 'old-secret' };
      const { channels, problems } = readPreferences(settingsWith([alone]));
      expect(channels).toMatchObject([{ id: 'channel-1', secrets: [] }]);
      const path = 'notificationChannelsV1[0].previousSigningSecret';
      expect(problems).toEqual([{ path, message: expect.stringContaining('unsigned') as string }]);
      expect(JSON.stringify(problems)).not.toContain('old-secret');
    },
  );

  it.each([
    ['no object', 'a string'],
    ['no url', { id: 'x' }],
    ['an invalid url', { id: 'x', url: 'nonsense' }],
    ['a url of another scheme', { id: 'x', url: 'file:///etc/passwd' }],
    ['a password in the url', { id: 'x', url: 'https://me:secret@hook.example/' }],
    ['no id', { url: URL_OK }],
    ['an id that is no text', { id: 7, url: URL_OK }],
    ['an id of two lines', { id: 'x\n  webhook good  sent', url: URL_OK }],
    ['the id of another channel', { id: 'good', url: URL_OK }],
    ['another kind', { id: 'x', url: URL_OK, kind: 'pigeon' }],
    ['a later version', { id: 'x', url: URL_OK, v: 2 }],
    ['a secret that is no text', { id: 'x', url: URL_OK, signingSecret: 12345678 }],
    ['a whsec_ secret of no byte', { id: 'x', url: URL_OK, signingSecret: 'whsec_A' }],
    [
      'a whsec_ secret of 15 bytes',
      { id: 'x', url: URL_OK, signingSecret: `whsec_${Buffer.alloc(15).toString('base64')}` },
    ],
    ['a whsec_ secret that is not base64', { id: 'x', url: URL_OK, signingSecret: 'whsec_it is!' }],
    ['an expiry that is no time', { id: 'x', url: URL_OK, previousSigningSecretExpiresAt: 'soon' }],
    ['an unknown preset', { id: 'x', url: URL_OK, preset: 'fax' }],
  ])('reports and skips a channel with %s, and serves the others', (_name, broken) => {
    const good = { id: 'good', url: URL_OK };
    const { channels, brokenChannels, problems } = readPreferences({
      notificationChannelsV1: [good, broken, { ...good, id: 'other' }],
    });
    expect(channels.map(({ id }) => id)).toEqual(['good', 'other']);
    expect(problems).toEqual([expect.objectContaining({ path: 'notificationChannelsV1[1]' })]);
    expect(brokenChannels).toHaveLength(1);
    expect(JSON.stringify([brokenChannels, problems])).not.toMatch(/secret@|12345678/);
  });

  it.each([
    [[], 'settings'],
    [{ notificationsSettingsV1: 'on' }, 'notificationsSettingsV1'],
    [{ notificationsSettingsV1: { ready: 'yes' } }, 'notificationsSettingsV1.ready'],
    [
      { notificationsSettingsV1: { requestPreviews: 0 } },
      'notificationsSettingsV1.requestPreviews',
    ],
    [{ notificationChannelsV1: {} }, 'notificationChannelsV1'],
    [settingsWith([{ url: URL_OK, topics: [] }]), 'notificationChannelsV1[0].topics'],
    [settingsWith([{ url: URL_OK, enabled: 1 }]), 'notificationChannelsV1[0].enabled'],
  ])('reports the invalid part of %j', (settings, path) => {
    const { push, problems } = readPreferences(settings);
    expect(problems.map((problem) => problem.path)).toEqual([path]);
    expect(push).toMatchObject({ enabled: true, topics: ON, requestPreviews: true });
  });
});

describe(readEvent.name, () => {
  const good = { topic: 'ready', serverUrl: 'https://g.example/', session: { sessionId: 's' } };
  const request = { requestId: 'r', toolName: 'Bash' };

  it('fills in missing fields', () => {
    expect(readEvent(good, NOW)).toEqual({
      id: expect.stringMatching(/^[\w-]{36}$/) as string,
      topic: 'ready',
      createdAt: NOW,
      serverUrl: 'https://g.example',
      session: { sessionId: 's', title: '' },
      request: null,
      messageText: null,
      metadata: {},
    });
  });

  it('removes a request from ready events, and message text from the others', () => {
    expect(readEvent({ ...good, request, messageText: 'hi' }, NOW)).toMatchObject({
      request: null,
    });
    const asked = readEvent(
      { ...good, topic: 'permission_request', request, messageText: 'hi' },
      NOW,
    );
    expect(asked).toMatchObject({ messageText: null, request });
  });

  it.each([
    [null, ['topic', 'serverUrl', 'session.sessionId']],
    [{ ...good, topic: 'permissionRequest' }, ['topic']],
    [{ ...good, serverUrl: 'ftp://x' }, ['serverUrl']],
    [{ ...good, serverUrl: `https://x/${'y'.repeat(512)}` }, ['serverUrl']],
    [{ ...good, session: { sessionId: 'a b' } }, ['session.sessionId']],
    [{ ...good, session: { sessionId: 'é' } }, ['session.sessionId']],
    [{ ...good, session: { sessionId: 'x'.repeat(129) } }, ['session.sessionId']],
    [{ ...good, session: { sessionId: 's', title: 5 } }, ['session.title']],
    [{ ...good, topic: 'permission_request' }, ['request.requestId']],
    [{ ...good, id: '' }, ['id']],
    [{ ...good, createdAt: -1 }, ['createdAt']],
    // The value is in seconds, and would mean an event of 1970.
    [{ ...good, createdAt: 1_760_000_000 }, ['createdAt']],
    [{ ...good, createdAt: '2026-01-01' }, ['createdAt']],
    [{ ...good, metadata: { deep: {} } }, ['metadata']],
    [{ ...good, metadata: { long: 'x'.repeat(2048) } }, ['metadata']],
  ])('reports every fault of %j', (input, paths) => {
    let thrown: unknown;
    try {
      readEvent(input, NOW);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(InvalidEvent);
    expect((thrown as InvalidEvent).problems.map(({ path }) => path)).toEqual(paths);
  });

  it('ignores a tool input that is not an object', () => {
    for (const input of [
      null,
      'x',
      7,
      [],
      { command: {} },
      { questions: 'x' },
      { command: [1] },
      { changes: 'x' },
      { fileChanges: [7, {}, ' '] },
    ]) {
      expect(Object.values(readRequestDetails(input)).flat().filter(Boolean)).toEqual([]);
    }
  });
});

describe(openSettings.name, () => {
  const document = { notificationsSettingsV1: { ready: false } };

  it('reads plain, encrypted and missing settings', async () => {
    const decrypt = (text: string) => Promise.resolve(Buffer.from(text, 'base64').toString());
    const c = Buffer.from(JSON.stringify(document)).toString('base64');
    expect(await openSettings({ t: 'plain', v: document })).toEqual(document);
    expect(await openSettings({ t: 'encrypted', c }, decrypt)).toEqual(document);
    expect(await openSettings(null)).toEqual({});
  });

  it('reports settings that it cannot read, without a fallback to the defaults', async () => {
    const encrypted = { t: 'encrypted', c: 'xyz' } as const;
    const failing = () => Promise.reject(new Error('wrong key'));
    await expect(openSettings(encrypted)).rejects.toThrow(SettingsUnreadable);
    await expect(openSettings(encrypted, failing)).rejects.toThrow(SettingsUnreadable);
    await expect(openSettings(encrypted, () => '{"a": "geheim"')).rejects.toThrow(
      'The settings are not JSON.',
    );
    for (const v of [[], 7, '"text"', true]) {
      await expect(openSettings({ t: 'plain', v })).rejects.toThrow(SettingsUnreadable);
    }
  });

  it('opens settings only with the key of the account', async () => {
    const secret = randomBytes(32);
    const account = new AccountContent(secret, 'account');
    const sealed = (c: string) => ({ t: 'encrypted', c }) as const;
    const settings = sealed(account.sealSettings(1, document));
    expect(await openSettings(settings, account)).toEqual(document);
    const others = [
      openSettings(settings, new AccountContent(randomBytes(32), 'account')),
      openSettings(settings, new AccountContent(secret, 'another')),
      openSettings(sealed(account.seal('credential:x', document)), account),
      openSettings(sealed('c2VhbGVk'), account),
      openSettings(sealed(account.sealSettings(1, [])), account),
    ];
    const results = await Promise.allSettled(others);
    results.forEach((one) =>
      expect(one).toMatchObject({ reason: expect.any(SettingsUnreadable) as unknown }),
    );
  });

  it('refuses settings that the server can read where the sender has a key', async () => {
    const account = new AccountContent(randomBytes(32), 'account');
    const plain = { t: 'plain', v: document } as const;
    const refused = { name: 'SettingsRefused', reason: 'plain' };
    await expect(openSettings(plain, account)).rejects.toMatchObject(refused);
    await expect(openSettings(plain, () => document)).rejects.toMatchObject(refused);
  });
});

describe('an account whose settings cannot be opened, or whose channels are invalid', () => {
  const event = anEvent('ready');
  const AT = { now: () => NOW };
  const never = { attempt: () => Promise.reject(new Error('must not send')) };
  const senders = { push: never, webhooks: never };

  it('receives nothing, and every target has that outcome', async () => {
    const settings = openSettings({ t: 'encrypted', c: 'c2VhbGVk' });
    const { outcomes } = await notify(
      event,
      { settings, tokens: saved('one', 'two') },
      senders,
      AT,
    );
    const unreadable = { state: 'failed', code: 'settings-unreadable', attempts: 0 };
    expect(outcomes).toMatchObject([
      { target: { kind: 'push', id: pushToken('one') }, ...unreadable },
      { target: { kind: 'push', id: pushToken('two') }, ...unreadable },
      { target: { kind: 'webhook', id: null }, ...unreadable },
    ]);
  });

  it('receives nothing while the server returns other settings than the sender expects', async () => {
    const account = new AccountContent(randomBytes(32), 'account');
    const settings = openSettings({ t: 'plain', v: settingsWith([]) }, account);
    const { outcomes } = await notify(event, { settings, tokens: saved('one') }, senders, AT);
    const refused = {
      ...{ state: 'failed', code: 'settings-refused', attempts: 0 },
      detail: expect.stringContaining('so that it can read it') as unknown,
    };
    expect(outcomes).toMatchObject([
      { target: { kind: 'push', id: pushToken('one') }, ...refused },
      { target: { kind: 'webhook', id: null }, ...refused },
    ]);
  });

  it('reports each invalid channel as failed, and a disabled one as off', async () => {
    const broken = { url: 'javascript:0' };
    const settings = settingsWith([broken, { ...broken, enabled: false }]);
    const { outcomes } = await notify(event, { settings, tokens: [] }, senders, AT);
    expect(outcomes).toMatchObject([
      { target: { kind: 'push', id: null }, state: 'no-target' },
      { target: { id: 'channel-1' }, state: 'failed', code: 'broken-channel' },
      { target: { id: 'channel-2' }, state: 'suppressed', reason: 'channel-disabled' },
    ]);
    const noList = { settings: { notificationChannelsV1: {} }, tokens: [] };
    expect((await notify(event, noList, senders, AT)).outcomes[1]).toMatchObject({
      target: { kind: 'webhook', id: null },
      code: 'broken-channel',
    });
  });
});
