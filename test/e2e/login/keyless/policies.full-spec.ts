import { refusalOf } from '../../../helpers/client.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { AccountCalls, encrypted, plain } from '../../../helpers/account-calls.js';
import {
  begin,
  logInAtProvider,
  hashOf,
  params,
  startLoginFixture,
  type LoginFixture,
} from '../../../fixtures/provider-login-fixture.js';
import { finish, keylessLogin, OPTIONAL, pendingOf } from '../../../helpers/keyless-calls.js';

/** Servers of a test, which end after it in any case. */
const endings: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (let end = endings.pop(); end; end = endings.pop()) {
    await end();
  }
});

async function startFixture(
  env: Readonly<Record<string, string>> = OPTIONAL,
): Promise<LoginFixture> {
  const fixture = await startLoginFixture({ env });
  endings.push(() => fixture.stop());
  return fixture;
}

/** Starts another server on the data of this one. */
async function another(
  fixture: LoginFixture,
  env: Readonly<Record<string, string>>,
): Promise<Server> {
  const started = await startServer({
    store: fixture.store,
    env: { ...fixture.env, ...env },
  });
  endings.push(() => started.stop());
  return started;
}

describe('logins without a device key under other policies', () => {
  it.each<[string, Readonly<Record<string, string>>, number, string]>([
    [
      'encryption is required',
      { SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'required_e2ee' },
      403,
      'e2ee-required',
    ],
    [
      'keyless OAuth is off',
      { SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: '0' },
      403,
      'keyless-disabled',
    ],
  ])(
    'refuses to begin when %s, and to finish a login that began before',
    async (_name, env, status, code) => {
      const fixture = await startFixture();
      const { proof, back } = await pendingOf(fixture.server, 'anna');
      const login = await begin(fixture.server, 'okta', { mode: 'keyless' });
      await fixture.server.kill('SIGKILL');
      const strict = await another(fixture, env);
      const refused = await params(strict, 'okta', { mode: 'keyless', proofHash: hashOf('x') });
      expect(refusalOf(refused)).toEqual({ status, code });
      const finished = await finish(strict, { pending: back['pending'], proof });
      expect(refusalOf(finished)).toEqual({ status, code });
      const returned = await logInAtProvider(login.url, 'anna');
      expect(returned).toEqual({ flow: 'auth', error: code.replaceAll('-', '_') });
    },
  );

  it('finds accounts and creates none without auto-provision', async () => {
    const fixture = await startFixture();
    const { body } = await keylessLogin(fixture.server, 'known');
    await fixture.server.kill('SIGKILL');
    const strict = await another(fixture, {
      SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION: '0',
      AUTH_SIGNUP_PROVIDERS: '',
    });
    const found = await keylessLogin(strict, 'known');
    expect(found.body).toMatchObject({ created: false, accountId: body['accountId'] });
    const { proof, back } = await pendingOf(strict, 'stranger');
    expect(back).toMatchObject({ provisioning: 'required', provisioningModes: '' });
    const refused = await finish(strict, { pending: back['pending'], proof });
    expect(refusalOf(refused)).toEqual({ status: 403, code: 'signup-provider-disabled' });
  });

  it('offers only the mode plain on plaintext_only', async () => {
    const env = { ...OPTIONAL, SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'plaintext_only' };
    const fixture = await startFixture(env);
    const { proof, back } = await pendingOf(fixture.server, 'anna');
    expect(back).toMatchObject({ storagePolicy: 'plaintext_only', provisioningModes: 'plain' });
    const { body } = await finish(fixture.server, { pending: back['pending'], proof });
    const account = new AccountCalls(fixture.server, String(body['token']));
    expect((await account.writeSettingsV2(plain(1), 0)).body).toMatchObject({ success: true });
    expect(refusalOf(await account.writeSettingsV2(encrypted('eA=='), 1))).toEqual({
      status: 403,
      code: 'encrypted-writes-disabled',
    });
  });
});

describe('logins without a device key on two replicas', () => {
  it('creates one account for a hundred simultaneous first logins on two replicas', async () => {
    const fixture = await startFixture();
    const replicas = [fixture.server, await another(fixture, { PORT: '0' })];
    const logins = await Promise.all(
      Array.from({ length: 100 }, () => pendingOf(fixture.server, 'many')),
    );
    const answers = await Promise.all(
      logins.map(({ proof, back }, index) =>
        finish(replicas[index % 2] ?? fixture.server, { pending: back['pending'], proof }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body['accountId'])).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body['token'])).size).toBe(100);
    expect(answers.filter(({ body }) => body['created'] === true)).toHaveLength(1);
  });
});
