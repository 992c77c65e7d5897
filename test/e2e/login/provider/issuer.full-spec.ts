import {
  call,
  logIn,
  makeDeviceKey,
  refusalOf,
  type Answer,
  type DeviceKey,
} from '../../../helpers/client.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { runSql } from '../../../fixtures/programs/services-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
import { Oidc } from '../../../fixtures/oidc-provider-fixture.js';
import {
  begin,
  beginConnect,
  logInAtProvider,
  connectFinalize,
  finalize,
  hashOf,
  loginThrough,
  params,
  profile,
  startLoginFixture,
  unlink,
} from '../../../fixtures/provider-login-fixture.js';

const KEYLESS = {
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '1',
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: '1',
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'okta',
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION: '1',
  SERVICE_MASTER_SECRET: 'a-master-secret-that-only-tests-know-0123456789',
};
const NOT_ELIGIBLE = { status: 403, code: 'not-eligible' };

const fixture = await startLoginFixture({ env: KEYLESS });
let server = fixture.server;
const other = await Oidc.start([`${server.url}/v1/oauth/okta/callback`]);
afterAll(async () => {
  await server.stop();
  await other.stop();
  await fixture.stop();
});

type Entry = Record<string, unknown>;

/** Restarts the server with other providers, on the same data and address. */
async function reconfigure(change: (entries: Entry[]) => Entry[]): Promise<void> {
  const entries = JSON.parse(fixture.env['AUTH_PROVIDERS_CONFIG_JSON'] ?? '[]') as Entry[];
  await server.kill('SIGTERM');
  const env = { ...fixture.env, AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify(change(entries)) };
  server = await startServer({ store: fixture.store, env });
}

const withOkta =
  (more: Entry) =>
  (entries: Entry[]): Entry[] =>
    entries.map((entry) => (entry['id'] === 'okta' ? { ...entry, ...more } : entry));

const atOther = (more: Entry = {}) => withOkta({ issuer: other.issuer, ...more });
const asBefore = (entries: Entry[]): Entry[] => entries;

async function keyless(user: string): Promise<Answer> {
  const proof = `the proof of ${user}`;
  const { body } = await params(server, 'okta', { mode: 'keyless', proofHash: hashOf(proof) });
  const { pending } = await logInAtProvider(String(body['url']), user);
  return call(server, 'POST', '/v1/auth/external/okta/finalize-keyless', {
    body: { pending, proof },
  });
}

async function refusedReturn(user: string): Promise<string | undefined> {
  return (await logInAtProvider((await begin(server)).url, user))['error'];
}

describe('a provider id that is pointed at another issuer', () => {
  const anna: DeviceKey = makeDeviceKey();

  afterEach(async () => {
    await reconfigure(asBefore);
  });

  it('never matches identities of the previous issuer: login, connect and keyless', async () => {
    const linked = await loginThrough(server, 'anna', anna);
    const kurt = await keyless('kurt');
    expect([linked.status, kurt.status]).toEqual([200, 200]);
    const atFirst = await begin(server);
    const { pending: stale } = await logInAtProvider(atFirst.url, 'anna');
    await reconfigure(atOther());
    expect(await refusedReturn('anna')).toBe('not_eligible');
    expect(await refusedReturn('kurt')).toBe('not_eligible');
    const { token } = linked.body;
    expect((await logInAtProvider(await beginConnect(server, token), 'anna'))['error']).toBe(
      'not_eligible',
    );
    const late = await finalize(server, stale, anna, { proof: atFirst.proof });
    expect(refusalOf(late)).toEqual({ status: 400, code: 'invalid-pending' });
    await server.logged(/login met an identity of another issuer/);
    const counted = await server.logged(/identities of another issuer match no login.*/);
    expect(counted[0]).toContain(fixture.oidc.issuer);
    expect(counted[0]).toContain('"identities":2');
    const { body } = await profile(server, token);
    expect(body['identities']).toMatchObject([{ provider: 'okta', login: 'anna' }]);
  });

  it('refuses to finish a login when the identity was linked at the other issuer in between', async () => {
    const berta = await begin(server);
    await reconfigure(atOther());
    const [one, two] = [await begin(server), await begin(server)];
    const [first, second] = [
      await logInAtProvider(one.url, 'berta'),
      await logInAtProvider(two.url, 'berta'),
    ];
    const { token } = await logIn(server);
    const third = await logInAtProvider(await beginConnect(server, token), 'berta');
    expect([first, second, third].every(({ pending }) => pending !== undefined)).toBe(true);
    await reconfigure(asBefore);
    const back = await logInAtProvider(berta.url, 'berta');
    const made = await finalize(server, back['pending'], makeDeviceKey(), { proof: berta.proof });
    expect(made.status).toBe(200);
    await reconfigure(atOther());
    const keyed = await finalize(server, first['pending'], makeDeviceKey(), { proof: one.proof });
    expect(refusalOf(keyed)).toEqual(NOT_ELIGIBLE);
    const body = { pending: second['pending'], proof: two.proof };
    const plain = await call(server, 'POST', '/v1/auth/external/okta/finalize-keyless', { body });
    expect(refusalOf(plain)).toEqual(NOT_ELIGIBLE);
    const connected = await connectFinalize(server, third['pending'], token);
    expect(refusalOf(connected)).toEqual(NOT_ELIGIBLE);
  });

  it('has separate people, and may adopt those of a former issuer', async () => {
    const clara = makeDeviceKey();
    const { body } = await loginThrough(server, 'clara', clara);
    await reconfigure(atOther());
    expect((await loginThrough(server, 'dora', makeDeviceKey())).status).toBe(200);
    await reconfigure(atOther({ formerIssuers: [fixture.oidc.issuer] }));
    const again = await loginThrough(server, 'clara', clara);
    expect(again.body).toMatchObject({ accountId: body.accountId, created: false });
    await reconfigure(atOther());
    expect((await loginThrough(server, 'clara', clara)).status).toBe(200);
    await reconfigure(asBefore);
    expect(await refusedReturn('clara')).toBe('not_eligible');
    expect((await unlink(server, body.token)).status).toBe(200);
    expect((await loginThrough(server, 'clara', clara)).status).toBe(200);
  });
});

describe('a provider that is removed while a login is pending', () => {
  const UNSUPPORTED = { status: 404, code: 'unsupported-provider' };

  it('is unsupported at every step, and returns with its pending logins', async () => {
    const key = makeDeviceKey();
    const [one, two] = [await begin(server), await begin(server)];
    const { pending } = await logInAtProvider(one.url, 'elsa');
    const { token } = await logIn(server);
    const { pending: connecting } = await logInAtProvider(
      await beginConnect(server, token),
      'frieda',
    );
    const state = new URL(two.url).searchParams.get('state') ?? '';
    await reconfigure((entries) => entries.filter(({ id }) => id !== 'okta'));
    const { proof } = one;
    expect(refusalOf(await finalize(server, pending, key, { proof }))).toEqual(UNSUPPORTED);
    const path = '/v1/auth/external/okta/finalize-keyless';
    const plain = await call(server, 'POST', path, { body: { pending, proof } });
    expect(refusalOf(plain)).toEqual(UNSUPPORTED);
    expect(refusalOf(await connectFinalize(server, connecting, token))).toEqual(UNSUPPORTED);
    const callback = await call(server, 'GET', `/v1/oauth/okta/callback?state=${state}&code=x`);
    expect(refusalOf(callback)).toEqual(UNSUPPORTED);
    await reconfigure(asBefore);
    expect((await finalize(server, pending, key, { proof })).status).toBe(200);
    expect((await connectFinalize(server, connecting, token)).status).toBe(200);
  });
});

describe('the issuer of an identity', () => {
  const issuerOf = async (login: string): Promise<string | null | undefined> => {
    const text = `SELECT issuer FROM identity WHERE provider = 'okta' AND login = $1`;
    const rows = await runSql<{ issuer: string | null }>(server.databaseUrl, text, [login]);
    return rows[0]?.issuer;
  };
  const reasonOf = async (login: string): Promise<string | null | undefined> => {
    const text = `SELECT eligibility_reason AS reason FROM identity WHERE provider = 'okta' AND login = $1`;
    const rows = await runSql<{ reason: string | null }>(server.databaseUrl, text, [login]);
    return rows[0]?.reason;
  };
  const recheck = () =>
    runSql(
      server.databaseUrl,
      `UPDATE identity SET eligibility_next_check_at = now() WHERE provider = 'okta'`,
    );

  it('is set by the next login, with a key or without, and by the next re-check', async () => {
    const gerda = makeDeviceKey();
    expect((await loginThrough(server, 'gerda', gerda)).status).toBe(200);
    expect((await keyless('hugo')).status).toBe(200);
    expect([await issuerOf('gerda'), await issuerOf('hugo')]).toEqual(
      Array.from({ length: 2 }, () => fixture.oidc.issuer),
    );
    await runSql(server.databaseUrl, 'UPDATE identity SET issuer = NULL');
    expect((await loginThrough(server, 'gerda', gerda)).status).toBe(200);
    expect((await keyless('hugo')).status).toBe(200);
    expect([await issuerOf('gerda'), await issuerOf('hugo')]).toEqual(
      Array.from({ length: 2 }, () => fixture.oidc.issuer),
    );
    await runSql(server.databaseUrl, 'UPDATE identity SET issuer = NULL');
    await recheck();
    await waitFor(
      'the issuer of gerda',
      async () => (await issuerOf('gerda')) === fixture.oidc.issuer,
    );
  });

  it('is not re-checked at another issuer: its eligibility becomes unknown', async () => {
    const { body } = await loginThrough(server, 'ida', makeDeviceKey());
    await reconfigure(atOther());
    try {
      await recheck();
      await waitFor('the re-check', async () => (await reasonOf('ida')) === 'issuer_changed');
      // The reason of a failed check is shown only to the operator.
      const { identities } = (await profile(server, body.token)).body;
      expect(identities).toMatchObject([{ eligibility: { status: 'eligible', reason: null } }]);
      expect(await issuerOf('ida')).toBe(fixture.oidc.issuer);
    } finally {
      await reconfigure(asBefore);
    }
  });
});
