import { readFileSync } from 'node:fs';
import { call, expectErrorShape, logIn, type Login, refusalOf } from '../../helpers/client.js';
import { connect, refusedConnect } from '../../helpers/client-live.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';

const OKTA = [
  {
    id: 'okta',
    type: 'oidc',
    displayName: 'Acme Okta',
    issuer: 'https://acme.example',
    clientId: 'gatehouse',
    clientSecret: 'a-client-secret-of-the-spec',
  },
];
const ENV = {
  AUTH_REQUIRED_LOGIN_PROVIDERS: 'okta',
  AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify(OKTA),
  SERVICE_PUBLIC_URL: 'https://gate.example',
};

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly needsToken: boolean;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Routes that a valid token may call under any provider policy (contract). */
const OPEN = /^\/v1\/(?:connect\/(?:external\/|certificate)|account\/profile$|auth\/logout)/;

/** Every route of the document, with a value for each of its parameters. */
const operations: Operation[] = Object.entries(
  (
    JSON.parse(readFileSync(new URL('../../../docs/openapi.json', import.meta.url), 'utf8')) as {
      paths: Record<string, Record<string, { security?: object[] }>>;
    }
  ).paths,
).flatMap(([path, methods]) =>
  METHODS.filter((method) => method in methods).map((method) => ({
    method: method.toUpperCase(),
    path: path.replace(/\{\w+\}/g, 'anything'),
    needsToken: (methods[method]?.security ?? []).length > 0,
  })),
);

const protectedOnes = operations.filter(({ needsToken }) => needsToken);

let login: Login;

const server = await startServer({ env: ENV });

afterAll(() => server.stop());

beforeEach(async () => {
  login = await logIn(server);
});

const refusal = {
  statusCode: 403,
  code: 'provider-required',
  error: 'provider-required',
  provider: 'okta',
};

describe('a request without a token', () => {
  it('can use public routes alone', () => {
    expect(protectedOnes.length).toBeGreaterThan(15);
    expect(operations.length - protectedOnes.length).toBeGreaterThan(5);
  });

  it.each(protectedOnes)('is refused at $method $path', async ({ method, path }) => {
    expect(refusalOf(await call(server, method, path, {}))).toEqual({
      status: 401,
      code: 'missing-token',
    });
  });
});

describe('an account without a required provider', () => {
  it.each(protectedOnes.filter(({ path }) => !OPEN.test(path)))(
    'is refused at $method $path',
    async ({ method, path }) => {
      const answer = await call(server, method, path, { token: login.token });
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({ ...refusal, message: 'Connect okta to continue.' });
      expectErrorShape(answer);
    },
  );

  it('is refused every time, cached or not, and with HEAD', async () => {
    const all = await Promise.all(
      Array.from({ length: 20 }, () => call(server, 'GET', '/v1/push-tokens', login)),
    );
    expect(all.map(refusalOf)).toEqual(Array(20).fill({ status: 403, code: 'provider-required' }));
    expect((await call(server, 'HEAD', '/v1/push-tokens', login)).status).toBe(403);
  });

  it('has stored nothing', async () => {
    const { body } = await call(server, 'GET', '/v1/features');
    expect(body).toMatchObject({
      capabilities: { auth: { login: { requiredProviders: ['okta'] } } },
    });
  });

  it('is authenticated first: an invalid token gets 401', async () => {
    const answer = await call(server, 'GET', '/v1/push-tokens', { token: 'x.y.z' });
    expect(refusalOf(answer)).toEqual({ status: 401, code: 'invalid-token' });
  });

  it('may use the routes that connect a provider, read its profile and log out', async () => {
    const connecting = await call(server, 'GET', '/v1/connect/external/github/params', login);
    expect(refusalOf(connecting)).toEqual({ status: 404, code: 'unsupported-provider' });
    const profile = await call(server, 'GET', '/v1/account/profile', login);
    expect(profile.body).toMatchObject({ id: login.accountId, identities: [] });
    expect((await call(server, 'POST', '/v1/auth/logout', login)).status).toBe(200);
    const again = await logIn(server);
    expect((await call(server, 'POST', '/v1/auth/logout-everywhere', again)).status).toBe(200);
  });

  it('is refused at the handshake with the same code', async () => {
    for (const clientType of ['user-scoped', 'session-scoped', 'machine-scoped', 'nonsense']) {
      const error = await refusedConnect(server, { token: login.token, clientType });
      expect(error.message).toBe('provider-required');
      expect(error.data).toMatchObject({
        ...refusal,
        message: 'Connect okta to continue.',
        requestId: expect.stringMatching(/./),
      });
    }
  });
});

describe('an account with the required identity', () => {
  const link = (status: string, provider = 'okta') =>
    runSql(
      server.databaseUrl,
      `INSERT INTO identity (id, account_id, provider, subject, login, connected_at, eligibility_status)
       VALUES (gen_random_uuid(), $1::uuid, $2, $1::uuid::text, 'jo', now(), $3)`,
      [login.accountId, provider, status],
    );

  it.each(['eligible', 'unknown'])('has access while it is %s', async (status) => {
    await link(status);
    expect((await call(server, 'GET', '/v1/push-tokens', login)).status).toBe(200);
    const live = await connect(server, { token: login.token });
    expect(await live.next('hello')).toMatchObject({ accountId: login.accountId });
    live.close();
    const { body } = await call(server, 'GET', '/v1/account/profile', login);
    expect(body['identities']).toEqual([
      {
        provider: 'okta',
        login: 'jo',
        eligibility: { status, reason: null, checkedAt: null, nextCheckAt: null },
        connectedAt: expect.any(Number),
      },
    ]);
  });

  it('is not eligible while it is ineligible', async () => {
    await link('ineligible');
    const answer = await call(server, 'GET', '/v1/push-tokens', login);
    expect(answer.body).toMatchObject({ statusCode: 403, code: 'not-eligible', provider: 'okta' });
    const error = await refusedConnect(server, { token: login.token });
    expect({ message: error.message, code: error.data?.['code'] }).toEqual({
      message: 'not-eligible',
      code: 'not-eligible',
    });
    expect((await call(server, 'GET', '/v1/account/profile', login)).status).toBe(200);
  });

  it('requires that provider, and no other one is enough', async () => {
    await link('eligible', 'github');
    const answer = await call(server, 'GET', '/v1/push-tokens', login);
    expect(answer.body).toMatchObject(refusal);
  });
});
