import { readdirSync } from 'node:fs';
import { readFullVersion } from '../../../src/common/version.js';
import {
  call,
  challengedLogin,
  makeDeviceKey,
  refusalOf,
  type Json,
} from '../../helpers/client.js';
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

interface Expected {
  readonly keyed: readonly string[];
  readonly okta: readonly string[];
  readonly signup: readonly [string, boolean][];
  readonly required: readonly string[];
  readonly storagePolicy: string;
  readonly keyless: boolean;
}

const PRESETS: Readonly<Record<string, Expected>> = {
  default: {
    keyed: ['login keyed', 'provision keyed'],
    okta: [],
    signup: [['anonymous', true]],
    required: [],
    storagePolicy: 'required_e2ee',
    keyless: false,
  },
  'public-provider-required': {
    keyed: ['login keyed'],
    okta: ['connect keyed', 'provision keyed'],
    signup: [
      ['anonymous', false],
      ['okta', true],
    ],
    required: ['okta'],
    storagePolicy: 'required_e2ee',
    keyless: false,
  },
  'enterprise-keyless-only': {
    keyed: ['login keyed'],
    okta: ['connect keyed', 'connect keyless', 'login keyless', 'provision keyless'],
    signup: [['anonymous', false]],
    required: ['okta'],
    storagePolicy: 'plaintext_only',
    keyless: true,
  },
  'enterprise-optional-encryption': {
    keyed: ['login keyed'],
    okta: [
      'connect keyed',
      'connect keyless',
      'provision keyed',
      'login keyless',
      'provision keyless',
    ],
    signup: [
      ['anonymous', false],
      ['okta', true],
    ],
    required: ['okta'],
    storagePolicy: 'optional',
    keyless: true,
  },
};

function documentOf(expected: Expected, hasProvider: boolean): Json {
  const { storagePolicy, keyless } = expected;
  const entries = (method: string, rows: readonly string[]): Json[] =>
    rows.map((row) => {
      const [action, mode] = row.split(' ');
      return { method, action, mode, ...(method === 'okta' && { restricted: true }) };
    });
  return {
    features: {
      auth: {
        login: { keyChallenge: { enabled: expected.keyed.length > 0 } },
        mtls: { enabled: false },
        oauthKeyless: { enabled: keyless },
      },
      e2ee: { keylessAccounts: { enabled: keyless } },
      encryption: {
        plaintextStorage: { enabled: storagePolicy !== 'required_e2ee' },
        accountOptOut: { enabled: false },
      },
      pushTokens: { enabled: true },
      updates: { enabled: true },
      answers: { enabled: storagePolicy !== 'plaintext_only' && expected.keyed.length > 0 },
      revocation: { replicaSeconds: 7 },
    },
    capabilities: {
      auth: {
        methods: [...entries('key_challenge', expected.keyed), ...entries('okta', expected.okta)],
        signup: { methods: expected.signup.map(([id, enabled]) => ({ id, enabled })) },
        login: { requiredProviders: expected.required, serverChallenge: 'required' },
        providers: hasProvider
          ? {
              okta: {
                ...{ displayName: 'Acme Okta', iconHint: 'okta', buttonColor: '#111111' },
                offboarding: { enabled: true, intervalSeconds: 86_400 },
              },
            }
          : {},
        ui: { autoRedirect: { enabled: false, providerId: null } },
      },
      encryption: {
        storagePolicy,
        defaultAccountMode: storagePolicy === 'plaintext_only' ? 'plain' : 'e2ee',
        allowAccountOptOut: false,
        plainAccountSettingsAtRest: 'server_sealed',
        plainAccountCredentialsAtRest: 'server_sealed',
      },
      server: { version: readFullVersion(), apiVersions: ['v1'] },
    },
  };
}

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

  it('covers every preset', () => {
    const files = readdirSync(new URL('../../../config/presets', import.meta.url));
    expect(files.sort()).toEqual(
      Object.keys(PRESETS)
        .map((name) => `${name}.env`)
        .sort(),
    );
  });

  describe.each(Object.entries(PRESETS))('with the preset %s', (preset, expected) => {
    let server: Server;
    const hasProvider = expected.required.length > 0;
    beforeAll(async () => {
      const env = { SERVICE_PRESET: preset, ...(hasProvider && WITH_OKTA) };
      server = await startServer({ env, untilReady: false });
    });
    afterAll(() => server.stop());

    it('returns exactly what the policy offers, to any caller', async () => {
      const answer = await call(server, 'GET', '/v1/features');
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      expect(answer.body).toEqual(documentOf(expected, hasProvider));
    });

    it('contains no secret, allowlist or variable', async () => {
      const { text } = await call(server, 'GET', '/v1/features');
      expect(FORBIDDEN.filter((word) => text.includes(word))).toEqual([]);
      expect(text).not.toMatch(VARIABLE_NAME);
    });
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
