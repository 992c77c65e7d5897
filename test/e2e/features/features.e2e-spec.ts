import { readFullVersion } from '../../../src/common/version.js';
import { call, challengedLogin, makeDeviceKey, refusalOf } from '../../helpers/client.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';

const SECRET = 'the-secret-of-the-okta-client';
const OKTA = JSON.stringify([
  {
    id: 'okta',
    type: 'oidc',
    displayName: 'Acme Okta',
    issuer: 'https://acme.example',
    clientId: 'the-client-id-of-acme',
    clientSecret: SECRET,
    allow: { emailDomains: ['the-allowed-domain.example'], groupsAny: ['the-allowed-group'] },
    storeRefreshToken: true,
    ui: { iconHint: 'okta', buttonColor: '#111111' },
  },
]);
const WITH_OKTA = { AUTH_PROVIDERS_CONFIG_JSON: OKTA, SERVICE_PUBLIC_URL: 'https://gate.example' };

const DOCUMENT = {
  features: {
    auth: {
      login: { keyChallenge: { enabled: true } },
      mtls: { enabled: false },
      oauthKeyless: { enabled: false },
    },
    e2ee: { keylessAccounts: { enabled: false } },
    encryption: { plaintextStorage: { enabled: false }, accountOptOut: { enabled: false } },
    pushTokens: { enabled: true },
    updates: { enabled: true },
    answers: { enabled: true },
    revocation: { replicaSeconds: 7 },
  },
  capabilities: {
    auth: {
      methods: [
        { method: 'key_challenge', action: 'login', mode: 'keyed' },
        { method: 'okta', action: 'connect', mode: 'keyed', restricted: true },
        { method: 'okta', action: 'provision', mode: 'keyed', restricted: true },
      ],
      signup: {
        methods: [
          { id: 'anonymous', enabled: false },
          { id: 'okta', enabled: true },
        ],
      },
      login: { requiredProviders: ['okta'], serverChallenge: 'required' },
      providers: {
        okta: {
          ...{ displayName: 'Acme Okta', iconHint: 'okta', buttonColor: '#111111' },
          offboarding: { enabled: true, intervalSeconds: 86_400 },
        },
      },
      ui: { autoRedirect: { enabled: false, providerId: null } },
    },
    encryption: {
      storagePolicy: 'required_e2ee',
      defaultAccountMode: 'e2ee',
      allowAccountOptOut: false,
      plainAccountSettingsAtRest: 'server_sealed',
      plainAccountCredentialsAtRest: 'server_sealed',
    },
    server: { version: readFullVersion(), apiVersions: ['v1'] },
  },
};

const FORBIDDEN = [
  SECRET,
  'the-client-id-of-acme',
  'the-allowed-domain',
  'the-allowed-group',
  'acme.example',
];
const VARIABLE_NAME = /AUTH_|SERVICE_|GITHUB_|DATABASE_|REDIS_/;

describe('GET /v1/features', () => {
  it('returns the same answer before and after a refused new key on plaintext_only', async () => {
    const server = await startServer({
      env: {
        SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY: 'plaintext_only',
        SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED: '1',
        SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID: 'ghost',
      },
    });
    try {
      const before = await call(server, 'GET', '/v1/features');
      const body = await challengedLogin(server, makeDeviceKey());
      expect(refusalOf(await call(server, 'POST', '/v1/auth', { body }))).toEqual({
        status: 403,
        code: 'signup-disabled',
      });
      const after = await call(server, 'GET', '/v1/features');
      expect(after.text).toBe(before.text);
      expect(before.body).toMatchObject({ features: { answers: { enabled: false } } });
      expect(refusalOf(await call(server, 'GET', '/v1/requests'))).toEqual({
        status: 404,
        code: 'not-found',
      });
      expect(after.body).toMatchObject({
        features: { auth: { login: { keyChallenge: { enabled: true } } } },
        capabilities: { auth: { ui: { autoRedirect: { enabled: false, providerId: null } } } },
      });
    } finally {
      await server.stop();
    }
  });

  it('returns exactly what the policy offers, and no secret, allowlist or variable', async () => {
    const env = { SERVICE_PRESET: 'public-provider-required', ...WITH_OKTA };
    const server = await startServer({ env, untilReady: false });
    try {
      const answer = await call(server, 'GET', '/v1/features');
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      expect(answer.body).toEqual(DOCUMENT);
      expect(FORBIDDEN.filter((word) => answer.text.includes(word))).toEqual([]);
      expect(answer.text).not.toMatch(VARIABLE_NAME);
    } finally {
      await server.stop();
    }
  });
});

describe('the entity tag of the features', () => {
  let server: Server;
  let etag: string;
  beforeAll(async () => {
    server = await startServer({ untilReady: false });
    const { headers } = await call(server, 'GET', '/v1/features');
    etag = headers.etag ?? '';
  });
  afterAll(() => server.stop());

  const read = (ifNoneMatch: string) =>
    call(server, 'GET', '/v1/features', { headers: { 'if-none-match': ifNoneMatch } });

  it('is strong, and does not change while the features do not', async () => {
    expect(etag).toMatch(/^"[^"]+"$/);
    expect((await call(server, 'GET', '/v1/features')).headers.etag).toBe(etag);
  });

  it('omits the body for the same tag, strong, weak, in a list or as a star', async () => {
    for (const value of [etag, `W/${etag}`, `"other", ${etag}`, `"other",${etag}`, '*']) {
      const { status, text, headers } = await read(value);
      expect({ value, status, text }).toEqual({ value, status: 304, text: '' });
      expect(headers.etag).toBe(etag);
      expect(headers['x-request-id']).toMatch(/./);
    }
  });

  it('matches no other tag', async () => {
    for (const value of ['"other"', etag.slice(1, -1), '', 'W/', ',', '"', etag.toUpperCase()]) {
      expect({ value, status: (await read(value)).status }).toEqual({ value, status: 200 });
    }
  });

  it('is sent with HEAD too, and with no other method', async () => {
    const head = await call(server, 'HEAD', '/v1/features');
    expect({ status: head.status, text: head.text }).toEqual({ status: 200, text: '' });
    expect(head.headers.etag).toBe(etag);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const { status, body } = await call(server, method, '/v1/features', { body: {} });
      expect({ status, code: body['code'] }).toEqual({ status: 404, code: 'not-found' });
    }
  });
});
