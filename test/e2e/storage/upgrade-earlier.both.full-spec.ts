import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import {
  call,
  challengedLogin,
  type DeviceKey,
  type Json,
  logIn,
  makeDeviceKey,
  refusalOf,
} from '../../helpers/client.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import {
  EARLIER_COMMITS,
  restoreStore,
  type Store,
} from '../../fixtures/programs/store-fixture.js';
import type { Server } from '../../fixtures/programs/server-fixture.js';
import { AccountCalls, encrypted, plain } from '../../helpers/account-calls.js';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import {
  loginThrough,
  startLoginFixture,
  type LoginFixture,
} from '../../fixtures/provider-login-fixture.js';
import { keylessLogin, OPTIONAL } from '../../helpers/keyless-calls.js';

// test/fixtures/database/README.md describes the rows.
const FORMER_ISSUER = 'http://127.0.0.1:21114';
const INVITATION = 'PDNR-032X-0NH1-S43E-4N56';
const MIGRATIONS = readdirSync(new URL('../../../src/server/storage/migrations', import.meta.url))
  .map((file) => /^(\d+)-(.+)\.ts$/.exec(file))
  .filter((found) => found !== null)
  .map(
    ([, at, name = '']) =>
      `${name.replace(/(?:^|-)(\w)/g, (_, first: string) => first.toUpperCase())}${at}`,
  );
const NEW_SECRET = 'the-next-master-secret-0123456789-0123456789';

const keyOf = (name: string): DeviceKey =>
  makeDeviceKey(createHash('sha256').update(name).digest());

describe.each(EARLIER_COMMITS)('the database of %s', (commit) => {
  const hasSessions = commit !== '349a57a';
  let store: Store;
  let fixture: LoginFixture;
  let server: Server;
  let tokens: AdminTokensFile;
  let admin: AdminCalls;

  beforeAll(async () => {
    [store, tokens] = await Promise.all([restoreStore(commit), AdminTokensFile.create()]);
    if (store.databaseUrl !== null) {
      expect(await gatehouse(['migrate', '--check'])).toMatchObject({
        code: 3,
        result: { pending: MIGRATIONS },
      });
      const migrated = await gatehouse(['migrate']);
      expect(migrated).toMatchObject({ code: 0, result: { ran: MIGRATIONS } });
    }
    fixture = await startLoginFixture({
      store,
      entry: { formerIssuers: [FORMER_ISSUER] },
      env: {
        ...OPTIONAL,
        // The provider of this test does not know the stored credentials, and a re-check would find that.
        AUTH_OFFBOARDING_ENABLED: 'false',
        AUTH_SIGNUP_INVITATIONS_ENABLED: 'true',
        SERVICE_AUDIT_RETENTION_DAYS: '3650',
        ...tokens.env,
      },
    });
    server = fixture.server;
    admin = new AdminCalls(await adminUrlOf(server), tokens.operator);
  });
  afterAll(() => fixture.stop());

  /** Runs a command with the variables of the server's database. */
  async function gatehouse(args: string[], env: Readonly<Record<string, string>> = {}) {
    const user = await createCliUser();
    const { code, stdout, stderr } = await user.run([...args, '--json'], { ...store.env, ...env });
    const results = stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Json);
    return { code, stderr, result: results[0], results };
  }

  async function accountOf(name: string): Promise<AccountCalls> {
    const { created, token } = await logIn(server, keyOf(name));
    expect(created).toBe(false);
    return new AccountCalls(server, token);
  }

  it('serves and changes the end-to-end encrypted content of a device key', async () => {
    const ada = await accountOf('ada');
    const settings = { content: encrypted('c2V0dGluZ3Mgb2YgYWRh'), version: 1 };
    expect((await ada.settingsV2()).body).toEqual(settings);
    expect((await ada.credential('github')).body).toMatchObject({
      content: encrypted('Y3JlZGVudGlhbCBvZiBhZGE='),
    });
    expect((await ada.writeSettingsV2(encrypted('bmV3'), 1)).body).toMatchObject({ version: 2 });
    expect((await ada.settingsV2()).body).toEqual({ content: encrypted('bmV3'), version: 2 });
  });

  it('opens and seals plain content with the master secret', async () => {
    const bob = await accountOf('bob');
    expect((await bob.settingsV2()).body).toEqual({ content: plain({ owner: 'bob' }), version: 1 });
    expect((await bob.credential('github')).body).toMatchObject({
      content: plain('credential of bob'),
    });
    expect((await bob.putCredential('github', plain('next'))).status).toBe(200);
    expect((await bob.credential('github')).body).toMatchObject({ content: plain('next') });
  });

  it('lists, replaces and removes push tokens', async () => {
    const { token } = await accountOf('ada');
    const list = async (): Promise<Json[]> =>
      (await call(server, 'GET', '/v1/push-tokens', { token })).body['tokens'] as Json[];
    const device = (kind: string): Json => ({
      token: `ExponentPushToken[ada-${kind}]`,
      clientServerUrl: 'https://gate.example',
      name: hasSessions ? `Ada's ${kind}` : null,
      platform: hasSessions ? 'ios' : null,
    });
    const byToken = (a: Json, b: Json): number =>
      String(a['token']) < String(b['token']) ? -1 : 1;
    const before = (await list()).sort(byToken);
    expect(before).toMatchObject([device('phone'), device('tablet')]);
    const renamed = { token: 'ExponentPushToken[ada-phone]', name: 'A phone' };
    await call(server, 'POST', '/v1/push-tokens', { token, body: renamed });
    await call(server, 'DELETE', '/v1/push-tokens/ExponentPushToken%5Bada-tablet%5D', { token });
    expect(await list()).toMatchObject([{ ...renamed, id: before[0]?.['id'] }]);
  });

  it('logs in through the provider to the linked accounts', async () => {
    const { body } = await keylessLogin(server, 'karla');
    const karla = new AccountCalls(server, String(body['token']));
    expect((await karla.settingsV2()).body).toMatchObject({ content: plain({ owner: 'karla' }) });
    const ada = await loginThrough(server, 'ada', keyOf('ada'));
    expect({ status: ada.status, created: ada.body.created }).toEqual({
      status: 200,
      created: false,
    });
    expect((await loginThrough(server, 'ada', makeDeviceKey())).status).toBe(409);
  });

  it('lists earlier sessions, which their account ends', async () => {
    const { token } = await accountOf('bob');
    const path = '/v1/account/sessions';
    const list = async (): Promise<Json[]> =>
      (await call(server, 'GET', path, { token })).body['sessions'] as Json[];
    const earlier = (await list()).filter(({ expiresAt }) => Number(expiresAt) > FAR_AWAY);
    expect(earlier).toHaveLength(hasSessions ? 2 : 0);
    for (const { id } of earlier) {
      const ended = await call(server, 'DELETE', `${path}/${String(id)}`, { token });
      expect(ended.status).toBe(200);
    }
    expect((await list()).filter(({ expiresAt }) => Number(expiresAt) > FAR_AWAY)).toEqual([]);
  });

  it('refuses a disabled account until an administrator enables it', async () => {
    const logInAsCarol = async () =>
      call(server, 'POST', '/v1/auth', { body: await challengedLogin(server, keyOf('carol')) });
    expect(refusalOf(await logInAsCarol())).toEqual({ status: 403, code: 'account-disabled' });
    const { body } = await admin.get('/audit?kind=account-disabled');
    const [event] = body['events'] as Json[];
    expect(event).toMatchObject({
      actor: hasSessions ? 'alice' : 'admin',
      reason: 'left the company',
    });
    await admin.act(String(event?.['accountId']), 'enable');
    expect((await logInAsCarol()).status).toBe(200);
  });

  it('signs up with an invitation as often as it has uses', async () => {
    const signUp = async () => {
      const body = { ...(await challengedLogin(server, makeDeviceKey())), invitation: INVITATION };
      return (await call(server, 'POST', '/v1/auth', { body })).status;
    };
    const statuses = [await signUp(), await signUp(), await signUp()];
    expect(statuses).toEqual(hasSessions ? [200, 200, 403] : [403, 403, 403]);
  });

  it('seals every value again with a new master secret', async () => {
    await server.kill('SIGTERM');
    const rotated = {
      SERVICE_MASTER_SECRET: NEW_SECRET,
      SERVICE_MASTER_SECRET_PREVIOUS: store.env['SERVICE_MASTER_SECRET'] ?? '',
    };
    const { code, results } = await gatehouse(['reseal'], rotated);
    const counts = results
      .map(({ purpose, renewed, unreadable }) => [purpose, renewed, unreadable])
      .filter(([, renewed, unreadable]) => renewed !== 0 || unreadable !== 0);
    expect({ code, counts }).toEqual({
      code: 0,
      counts: [
        ['account-settings', 2, 0],
        ['account-credentials', 1, 0],
        ['identity-credentials', 2, 0],
      ],
    });
  });
});

/** The sessions of the dumps end in 2126. */
const FAR_AWAY = Date.parse('2125-01-01');
