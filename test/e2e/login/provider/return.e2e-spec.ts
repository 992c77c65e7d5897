import { call, logIn, makeDeviceKey, refusalOf, type Answer } from '../../../helpers/client.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../../helpers/wait.js';
import {
  begin,
  beginConnect,
  callbackOf,
  logInAtProvider,
  hashOf,
  loginThrough,
  params,
  providerEntry,
  RETURN_BASE,
  startLoginFixture,
} from '../../../fixtures/provider-login-fixture.js';

const fixture = await startLoginFixture();
const server = fixture.server;
afterAll(() => fixture.stop());

/** Reads the redirect to the client, which must lead to the address of the operator. */
function returned({ status, headers }: Answer, provider = 'okta'): Record<string, string> {
  expect(status).toBe(302);
  const location = String(headers.location);
  expect(location).toMatch(/^[\x21-\x7e]+$/);
  const url = new URL(location);
  expect(`${url.origin}${url.pathname}${url.hash}`).toBe(`${RETURN_BASE}/${provider}`);
  return Object.fromEntries(url.searchParams);
}

const callback = (query: string, headers?: Record<string, string>, provider = 'okta') =>
  call(server, 'GET', `/v1/oauth/${provider}/callback${query}`, { headers });

const stateOf = (url: string): string => new URL(url).searchParams.get('state') ?? '';

const INVALID_STATE = { flow: 'auth', error: 'invalid_state' };

describe('the callback of a provider login', () => {
  it.each([
    '',
    '?',
    '?code=x',
    '?state=',
    '?state=x&code=y',
    `?state=${'a'.repeat(43)}&code=y`,
    `?state=${'a'.repeat(5000)}`,
    '?state=%00',
    '?state[]=x',
    '?state=%ff%fe',
    '?error=access_denied',
    '?error=<script>alert(1)</script>&error_description=//evil.example',
    '?return=https://evil.example&redirect_uri=https://evil.example&returnTo=//evil.example',
    '?state=x%0d%0aset-cookie:a=b',
    '?state=//evil.example&iss=https://evil.example',
    '?%',
    '?#https://evil.example',
  ])('redirects to its own address with invalid_state for %j', async (query) => {
    expect(returned(await callback(query))).toEqual(INVALID_STATE);
  });

  it.each<Record<string, string>>([
    { host: 'evil.example' },
    { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'javascript' },
    { forwarded: 'host=evil.example;proto=https' },
    { 'x-original-url': '//evil.example', 'x-rewrite-url': '//evil.example' },
    { referer: 'https://evil.example', origin: 'https://evil.example' },
  ])('ignores untrusted headers of the browser: %j', async (headers) => {
    expect(returned(await callback('?state=x&code=y', headers))).toEqual(INVALID_STATE);
    const { url } = await begin(server);
    const at = await callbackOf(server, url, 'anna');
    const answer = await call(server, 'GET', at.pathname + at.search, { headers });
    expect(returned(answer)).toMatchObject({ pending: expect.any(String) });
  });

  it('reports that the person or the provider refused', async () => {
    const { url } = await begin(server);
    const iss = encodeURIComponent(fixture.oidc.issuer);
    const answer = await callback(`?error=access_denied&state=${stateOf(url)}&iss=${iss}`);
    expect(returned(answer)).toEqual({ flow: 'auth', error: 'access_denied' });
  });

  it.each<[string, (query: URLSearchParams) => void]>([
    ['a forged code', (query) => query.set('code', 'forged')],
    ['no code', (query) => query.delete('code')],
    ['another issuer', (query) => query.set('iss', 'https://evil.example')],
    ['no issuer, where the provider sends one', (query) => query.delete('iss')],
    ['an error of the provider', (query) => query.set('error', 'server_error')],
  ])('reports an upstream error with %s, and consumes the state', async (_, change) => {
    const { url } = await begin(server);
    const at = await callbackOf(server, url, 'berta');
    const good = at.search;
    change(at.searchParams);
    expect(returned(await callback(at.search))).toEqual({ flow: 'auth', error: 'upstream_error' });
    expect(returned(await callback(good))).toEqual(INVALID_STATE);
  });

  it('ends a flow whose state returns from another provider', async () => {
    const { url } = await begin(server);
    const at = await callbackOf(server, url, 'clara');
    expect(returned(await callback(at.search, {}, 'acme'), 'acme')).toEqual(INVALID_STATE);
    expect(returned(await callback(at.search))).toEqual(INVALID_STATE);
  });

  it('refuses a callback with two states', async () => {
    const [one, two] = [await begin(server), await begin(server)];
    const query = `?state=${stateOf(one.url)}&state=${stateOf(two.url)}&code=x`;
    expect(returned(await callback(query))).toEqual(INVALID_STATE);
  });

  it('accepts a callback only once', async () => {
    const { url } = await begin(server);
    const at = await callbackOf(server, url, 'dora');
    expect(returned(await callback(at.search))).toHaveProperty('pending');
    expect(returned(await callback(at.search))).toEqual(INVALID_STATE);
  });

  it('is not consumed by HEAD, which link previews and scanners send', async () => {
    const { url } = await begin(server);
    const at = await callbackOf(server, url, 'dora');
    const head = await call(server, 'HEAD', at.pathname + at.search);
    expect(head.status).toBe(404);
    expect(head.headers.location).toBeUndefined();
    expect(returned(await callback(at.search))).toHaveProperty('pending');
  });

  it.each(['/v1/auth/external/okta/params', '/v1/connect/external/okta/params'])(
    'begins nothing with HEAD %s',
    async (path) => {
      const { body } = await loginThrough(server, 'dora', makeDeviceKey());
      const query = `?mode=keyed&proofHash=${hashOf('p')}`;
      const answer = await call(server, 'HEAD', path + query, { token: body.token });
      expect(answer.status).toBe(404);
    },
  );

  it('is not cached, and sends no referrer to the next page', async () => {
    const { headers } = await callback('?state=x');
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
  });

  it('reports that a person is not eligible, and stores no pending login', async () => {
    const { url } = await begin(server);
    expect(await logInAtProvider(url, 'out-emma')).toEqual({ flow: 'auth', error: 'not_eligible' });
  });

  it('reports the flow that was begun', async () => {
    const { body } = await loginThrough(server, 'frida', makeDeviceKey());
    const back = await logInAtProvider(await beginConnect(server, body.token), 'frida');
    expect(back).toEqual({
      flow: 'connect',
      pending: expect.any(String),
      mode: 'keyed',
      storagePolicy: 'required_e2ee',
      accountMode: 'e2ee',
    });
    const refused = await logInAtProvider(await beginConnect(server, body.token), 'out-frida');
    expect(refused).toEqual({ flow: 'connect', error: 'not_eligible' });
    const fresh = await logInAtProvider(await beginConnect(server, body.token, 'acme'), 'frida');
    expect(fresh).not.toHaveProperty('provisioning');
  });
});

describe('a provider that is unavailable', () => {
  it('affects no other provider, and recovers by itself', async () => {
    const { url } = await begin(server);
    const at = await callbackOf(server, url, 'gerda');
    await fixture.oidc.stop();
    expect(returned(await callback(at.search))).toEqual({ flow: 'auth', error: 'upstream_error' });
    const cold = await fixture.restart();
    const answer = await params(cold, 'okta', { proofHash: hashOf('p') });
    expect(refusalOf(answer)).toEqual({ status: 503, code: 'unavailable' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect((await call(cold, 'GET', '/readyz')).status).toBe(200);
    expect((await call(cold, 'POST', '/v1/auth/challenge', { body: {} })).status).toBe(200);
    await fixture.oidc.start();
    await expect(untilStarted(cold)).resolves.toContain(fixture.oidc.issuer);
  });

  async function untilStarted(target: Server): Promise<string> {
    const { body } = await waitFor('the provider is back', async () => {
      const answer = await params(target, 'okta', { proofHash: hashOf('p') });
      return answer.status === 200 && answer;
    });
    return String(body['url']);
  }
});

const KEYLESS = {
  SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'optional',
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '1',
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED: '1',
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS: 'okta',
  SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION: '1',
};

describe('a server without its own address and without a web app', () => {
  it('starts, advertises no OAuth, and answers with oauth-not-configured', async () => {
    const entry = providerEntry('okta', fixture.oidc);
    const unconfigured = await startServer({
      env: {
        ...KEYLESS,
        AUTH_SIGNUP_PROVIDERS: 'okta',
        AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([entry]),
      },
    });
    try {
      const { token } = await logIn(unconfigured);
      const refusals = await Promise.all([
        params(unconfigured, 'okta', { mode: 'keyed', proofHash: hashOf('p') }),
        params(unconfigured, 'okta', { mode: 'keyless', proofHash: hashOf('p') }),
        call(unconfigured, 'GET', '/v1/connect/external/okta/params', { token }),
        call(unconfigured, 'GET', '/v1/oauth/okta/callback?state=x&code=y'),
      ]);
      const expected = { status: 400, code: 'oauth-not-configured' };
      expect(refusals.map(refusalOf)).toEqual(refusals.map(() => expected));
      const { body } = await call<FeatureBody>(unconfigured, 'GET', '/v1/features');
      const { methods, signup } = body.capabilities.auth;
      expect(methods.map(({ method }) => method)).toEqual(['key_challenge', 'key_challenge']);
      expect(signup.methods).toEqual([{ id: 'anonymous', enabled: true }]);
      await unconfigured.logged(/okta is configured, but its callback/);
    } finally {
      await unconfigured.stop();
    }
  });
});

interface FeatureBody {
  readonly capabilities: {
    readonly auth: {
      readonly methods: readonly { readonly method: string }[];
      readonly signup: { readonly methods: readonly object[] };
    };
  };
}
