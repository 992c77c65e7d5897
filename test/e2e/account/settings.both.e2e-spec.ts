import { randomBytes } from 'node:crypto';
import { call, expectErrorShape, logIn, refusalOf } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import {
  AccountCalls,
  encrypted,
  OPTIONAL,
  OPTIONAL_PLAIN,
  plain,
} from '../../helpers/account-calls.js';

const fresh = async (at: Server = server): Promise<AccountCalls> =>
  new AccountCalls(at, (await logIn(at)).token);

const store = await createStore();
const first = await startServer({ store, env: OPTIONAL });
const { token } = await fresh(first);
await first.stop();
let server = await startServer({ store, env: OPTIONAL_PLAIN });
let e2ee = new AccountCalls(server, token);
let open = await fresh();

afterAll(async () => {
  await server.stop();
  await store.drop();
});

describe('settings of an end-to-end encrypted account', () => {
  it('returns nothing at version 0 before the first write, in both versions of the route', async () => {
    expect((await e2ee.settings()).body).toEqual({ settings: null, settingsVersion: 0 });
    expect((await e2ee.settingsV2()).body).toEqual({ content: null, version: 0 });
  });

  it('returns settings as they were written, and each route returns writes of the other', async () => {
    expect((await e2ee.writeSettings('b25l', 0)).body).toEqual({ success: true, version: 1 });
    expect((await e2ee.settings()).body).toEqual({ settings: 'b25l', settingsVersion: 1 });
    expect((await e2ee.settingsV2()).body).toEqual({ content: encrypted('b25l'), version: 1 });
    const second = await e2ee.writeSettingsV2(encrypted('dHdv – ü'), 1);
    expect(second.body).toEqual({ success: true, version: 2 });
    expect((await e2ee.settings()).body).toEqual({ settings: 'dHdv – ü', settingsVersion: 2 });
  });

  it('does not overwrite newer settings, and answers 200 with the stored ones', async () => {
    const first = await e2ee.writeSettings('bGF0ZQ==', 1);
    expect({ status: first.status, body: first.body }).toEqual({
      status: 200,
      body: {
        success: false,
        error: 'version-mismatch',
        currentVersion: 2,
        currentSettings: 'dHdv – ü',
      },
    });
    const second = await e2ee.writeSettingsV2(encrypted('bGF0ZQ=='), 7);
    expect({ status: second.status, body: second.body }).toEqual({
      status: 200,
      body: {
        success: false,
        error: 'version-mismatch',
        currentVersion: 2,
        currentContent: encrypted('dHdv – ü'),
      },
    });
  });

  it('removes settings with null', async () => {
    expect((await e2ee.writeSettings(null, 2)).body).toEqual({ success: true, version: 3 });
    expect((await e2ee.settings()).body).toEqual({ settings: null, settingsVersion: 3 });
  });
});

describe('settings of a plain account', () => {
  it('requires the second version of the route for a plain account', async () => {
    const refused = { status: 400, code: 'plain-account-requires-settings-v2' };
    expect(refusalOf(await open.settings())).toEqual(refused);
    expect(refusalOf(await open.writeSettings('b25l', 0))).toEqual(refused);
    expect(refusalOf(await open.writeSettings(null, 0))).toEqual(refused);
  });

  it.each<[string, unknown]>([
    ['an object', { theme: 'dark', nested: { list: [1, 'two', null, true] } }],
    ['null', null],
    ['false', false],
    ['a text with a NUL and half a surrogate pair', '\u0000\ud800'],
    ['names that objects have anyway', { constructor: 1, toString: 2 }],
  ])('stores any JSON value: %s', async (_name, value) => {
    const account = await fresh();
    expect((await account.writeSettingsV2(plain(value), 0)).body).toMatchObject({ success: true });
    const { text } = await account.settingsV2();
    expect(text).toBe(JSON.stringify({ content: plain(value), version: 1 }));
  });

  it('keeps settings after kill -9', async () => {
    const account = await fresh();
    await account.writeSettingsV2(plain({ kept: true }), 0);
    server = await server.restart();
    const again = new AccountCalls(server, account.token);
    expect((await again.settingsV2()).body).toEqual({ content: plain({ kept: true }), version: 1 });
    open = new AccountCalls(server, open.token);
    e2ee = new AccountCalls(server, e2ee.token);
  });
});

describe('writes of settings', () => {
  it('accepts exactly one of 50 simultaneous writes that expect one version', async () => {
    const account = await fresh();
    const writes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => account.writeSettingsV2(plain({ index }), 0)),
    );
    expect(new Set(writes.map(({ status }) => status))).toEqual(new Set([200]));
    const won = writes.flatMap(({ body }, index) => (body['success'] === true ? [index] : []));
    expect(won).toHaveLength(1);
    const { body } = await account.settingsV2();
    expect(body).toEqual({ content: plain({ index: won[0] }), version: 1 });
    for (const { body: answer } of writes.filter((_, index) => index !== won[0])) {
      expect(answer).toEqual({
        success: false,
        error: 'version-mismatch',
        currentVersion: 1,
        currentContent: plain({ index: won[0] }),
      });
    }
  });

  it('sends settings to the live clients, and only actual changes', async () => {
    const account = await fresh();
    const live = await connect(server, { token: account.token });
    await live.next('hello');
    await account.writeSettingsV2(plain(1), 0);
    await account.writeSettingsV2(plain(2), 0);
    await account.writeSettingsV2(encrypted('eA=='), 1);
    await account.writeSettingsV2(plain(3), 1);
    const updates = [await live.next('update'), await live.next('update')];
    expect(updates).toMatchObject([
      { seq: 1, body: { t: 'account-settings-changed' } },
      { seq: 2, body: { t: 'account-settings-changed' } },
    ]);
    expect(live.waiting('update')).toBe(0);
    live.close();
  });

  it.each<[string, unknown, unknown]>([
    ['no content', undefined, 0],
    ['content without an envelope', { theme: 'dark' }, 0],
    ['an unknown envelope', { t: 'zipped', v: 1 }, 0],
    ['a plain envelope without a value', { t: 'plain' }, 0],
    ['an encrypted envelope without text', { t: 'encrypted', c: 1 }, 0],
    ['encrypted text that does not survive', encrypted('\ud800'), 0],
    ['no version', plain(1), undefined],
    ['a negative version', plain(1), -1],
    ['a fractional version', plain(1), 0.5],
    ['a version as text', plain(1), '0'],
    ['a version that no integer column holds', plain(1), 2_147_483_648],
  ])('refuses a write of settings: %s', async (_name, content, version) => {
    const account = await fresh();
    const answer = await account.writeSettingsV2(content, version);
    expect(refusalOf(answer)).toEqual({ status: 400, code: 'invalid-request' });
    expectErrorShape(answer);
    expect((await account.settingsV2()).body).toEqual({ content: null, version: 0 });
  });

  it('limits settings to a third of a request body', async () => {
    const account = await fresh();
    const limit = Math.floor(1_048_576 / 3);
    const fits = 'x'.repeat(limit - 2);
    expect((await account.writeSettingsV2(plain(fits), 0)).body).toMatchObject({ success: true });
    const tooMuch = await account.writeSettingsV2(plain(`${fits}x`), 1);
    expect(refusalOf(tooMuch)).toEqual({ status: 413, code: 'payload-too-large' });
    expect((await account.settingsV2()).body['version']).toBe(1);
  });

  it.each([
    [62, 200],
    [63, 400],
    [100_000, 400],
  ])('answers a value that nests %i deep with %i, and can be read', async (depth, expected) => {
    const { token } = await fresh();
    const v = '['.repeat(depth) + ']'.repeat(depth);
    const body = `{"expectedVersion":0,"content":{"t":"plain","v":${v}}}`;
    const path = '/v2/account/settings';
    expect((await call(server, 'POST', path, { token, body })).status).toBe(expected);
    expect((await call(server, 'GET', path, { token })).status).toBe(200);
  });

  it('requires a token to read settings', async () => {
    for (const path of ['/v1/account/settings', '/v2/account/settings']) {
      expect(refusalOf(await call(server, 'GET', path))).toEqual({
        status: 401,
        code: 'missing-token',
      });
    }
  });

  it('reaches only the settings of the account of the token', async () => {
    const [one, two] = [await fresh(), await fresh()];
    const secret = randomBytes(16).toString('hex');
    await one.writeSettingsV2(plain(secret), 0);
    expect((await two.settingsV2()).text).not.toContain(secret);
    expect((await two.settingsV2()).body).toEqual({ content: null, version: 0 });
  });
});
