import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '../environment/configuration-error.js';
import { resolveSettings } from '../resolve-settings.js';
import type { ProviderSettings } from './provider-settings.js';

const OKTA = {
  id: 'okta',
  type: 'oidc',
  issuer: 'https://acme.okta.com',
  clientId: 'gatehouse',
  clientSecret: 'client-secret',
};
const PUBLIC_URL = 'https://gate.acme.example';

function providersOf(
  entries: unknown,
  more: Record<string, string> = { SERVICE_PUBLIC_URL: PUBLIC_URL },
): readonly ProviderSettings[] {
  const text = typeof entries === 'string' ? entries : JSON.stringify(entries);
  return resolveSettings({ AUTH_PROVIDERS_CONFIG_JSON: text, ...more }).settings.providers;
}

function messagesFor(entries: unknown, more?: Record<string, string>): string[] {
  try {
    providersOf(entries, more);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).problems.map(
      ({ variable, message }) => `${variable}: ${message}`,
    );
  }
  return [];
}

describe('the providers file', () => {
  it('fills in the omitted fields of an entry', () => {
    expect(providersOf([OKTA])).toEqual([
      {
        ...OKTA,
        clientSecretFile: null,
        tokenEndpointAuthMethod: null,
        clientSecretExpiresAt: null,
        clientKeyFile: null,
        clientAssertionFile: null,
        clientAssertionAudience: 'issuer',
        displayName: 'okta',
        isOAuthConfigured: true,
        formerIssuers: [],
        idTokenSigningAlg: null,
        trustedAudiences: [],
        logoutTokenType: 'any',
        redirectUrl: `${PUBLIC_URL}/v1/oauth/okta/callback`,
        scopes: ['openid', 'profile', 'email'],
        prompt: null,
        httpTimeoutSeconds: 30,
        claims: { login: 'preferred_username', email: 'email', groups: 'groups' },
        allow: { usersAllowlist: [], emailDomains: [], groupsAny: [], groupsAll: [] },
        fetchUserInfo: false,
        storeRefreshToken: false,
        emailVerification: 'required',
        entra: { graph: false, graphUrl: null },
        googleWorkspaceGroups: null,
        scim: null,
        globalTokenRevocation: null,
        sharedSignals: null,
        ui: { iconHint: null, buttonColor: null },
      },
    ]);
  });

  it('keeps the given fields of an entry, allow rules in lower case', () => {
    const [provider] = providersOf([
      {
        ...OKTA,
        allow: { groupsAny: ['Engineering', ' engineering'], emailDomains: ['ACME.example'] },
        emailVerification: 'trustedIssuer',
        entra: { graph: true },
        tokenEndpointAuthMethod: 'client_secret_basic',
        trustedAudiences: ['Project-1', 'Project-1', '2'],
        ui: { buttonColor: '#1A2b3c' },
      },
    ]);
    expect(provider).toMatchObject({
      tokenEndpointAuthMethod: 'client_secret_basic',
      trustedAudiences: ['Project-1', '2'],
      allow: { groupsAny: ['engineering'], emailDomains: ['acme.example'] },
      emailVerification: 'trustedIssuer',
      entra: { graph: true },
      ui: { iconHint: null, buttonColor: '#1A2b3c' },
    });
  });

  it('reads who sends universal logout, and needs the address that its tokens name', () => {
    const sender = {
      issuer: 'https://acme.okta.com',
      subject: '0oa1b2c3d4',
      jwksUri: 'https://acme.okta.com/oauth2/v1/keys',
    };
    const entry = { ...OKTA, signals: { globalTokenRevocation: sender } };
    const endpoint = `${PUBLIC_URL}/v1/signals/okta/global-token-revocation`;
    expect(providersOf([entry])).toMatchObject([
      { globalTokenRevocation: { ...sender, endpoint } },
    ]);
    const withoutAddress = (): unknown =>
      resolveSettings({ AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([entry]) });
    expect(withoutAddress).toThrow('[0].signals.globalTokenRevocation needs SERVICE_PUBLIC_URL');
  });

  it('reads who sends security events', () => {
    const signals = (sharedSignals: object) => ({ ...OKTA, signals: { sharedSignals } });
    const transmitter = 'https://acme.okta.com';
    const token = 't'.repeat(32);
    expect(
      providersOf([
        signals({ transmitter }),
        { ...signals({ transmitter, audience: 'a', pushToken: token }), id: 'other' },
      ]),
    ).toMatchObject([
      {
        sharedSignals: {
          ...{ transmitter, audience: PUBLIC_URL, push: null, riskEvents: 'count' },
        },
      },
      { sharedSignals: { audience: 'a', push: { tokenText: token, tokenFile: null } } },
    ]);
    const both = signals({ transmitter, pushToken: token, pushTokenFile: 'x' });
    expect(() => providersOf([both])).toThrow(
      '[0].signals.sharedSignals needs either pushToken or pushTokenFile.',
    );
  });

  it('turns offboarding on when an entry has an allow rule, and not otherwise', () => {
    const enabledWith = (entry: object): boolean =>
      resolveSettings({
        AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([entry]),
        SERVICE_PUBLIC_URL: PUBLIC_URL,
      }).settings.auth.offboarding.enabled;
    expect(enabledWith({ ...OKTA, allow: { usersAllowlist: ['ann'] } })).toBe(true);
    expect(enabledWith(OKTA)).toBe(false);
  });

  it.each<[string, object, string]>([
    [
      'keys of universal logout without https',
      {
        ...OKTA,
        signals: {
          globalTokenRevocation: { issuer: 'https://a.b', subject: 's', jwksUri: 'http://a.b' },
        },
      },
      '[0].signals.globalTokenRevocation.jwksUri must use https',
    ],
    ['an id with capitals', { ...OKTA, id: 'Okta' }, '[0].id must be lower-case letters'],
    ['an id that is too long', { ...OKTA, id: 'a'.repeat(65) }, '[0].id must be'],
    ['the id github', { ...OKTA, id: 'github' }, '[0].id must not be github'],
    ['the id mtls', { ...OKTA, id: 'mtls' }, '[0].id must not be one of'],
    ['the id key_challenge', { ...OKTA, id: 'key_challenge' }, '[0].id must not be one of'],
    ['another protocol', { ...OKTA, type: 'saml' }, '[0].type must be "oidc".'],
    ['no issuer', { ...OKTA, issuer: undefined }, '[0].issuer is missing.'],
    ['an http issuer', { ...OKTA, issuer: 'http://acme.okta.com' }, '[0].issuer must use https'],
    ['an issuer with a query', { ...OKTA, issuer: 'https://a.b/?x=1' }, '[0].issuer must not have'],
    ['a number as client id', { ...OKTA, clientId: 5 }, '[0].clientId must be a text'],
    ['two secrets', { ...OKTA, clientSecretFile: 'x' }, '[0].clientSecret and clientSecretFile'],
    ['no secret', { ...OKTA, clientSecret: undefined }, '[0].clientSecret is missing'],
    [
      'another method for the secret',
      { ...OKTA, tokenEndpointAuthMethod: 'none' },
      '[0].tokenEndpointAuthMethod must be "client_secret_basic" or "client_secret_post".',
    ],
    [
      'a method for a secret that is not used',
      {
        ...{ ...OKTA, clientSecret: undefined, clientAssertionFile: 'package.json' },
        tokenEndpointAuthMethod: 'client_secret_post',
      },
      '[0].tokenEndpointAuthMethod has no effect with clientAssertionFile, which sends no secret.',
    ],
    ['an audience', { ...OKTA, trustedAudiences: 'x' }, '[0].trustedAudiences must be an array'],
    ['a secret and a key', { ...OKTA, clientKeyFile: 'x' }, '[0].clientSecret and clientKeyFile'],
    [
      'a key file that is missing',
      { ...OKTA, clientSecret: undefined, clientKeyFile: '/nowhere.pem' },
      '[0].clientKeyFile names a file that does not exist.',
    ],
    [
      'a key file without a key',
      { ...OKTA, clientSecret: undefined, clientKeyFile: 'package.json' },
      '[0].clientKeyFile names a file that has no private key in PEM.',
    ],
    [
      'an assertion file that is missing',
      { ...OKTA, clientSecret: undefined, clientAssertionFile: '/nowhere' },
      '[0].clientAssertionFile names a file that does not exist.',
    ],
    [
      'an end in words',
      { ...OKTA, clientSecretExpiresAt: 'soon' },
      '[0].clientSecretExpiresAt must be a date such as 2027-01-31.',
    ],
    [
      'an end that is no date',
      { ...OKTA, clientSecretExpiresAt: '2027-02-31' },
      '[0].clientSecretExpiresAt must be a date such as 2027-01-31.',
    ],
    ['an unknown prompt', { ...OKTA, prompt: 'none' }, '[0].prompt must be "login" or'],
    ['no openid scope', { ...OKTA, scopes: ['email'] }, '[0].scopes must have openid.'],
    ['scopes as text', { ...OKTA, scopes: 'openid' }, '[0].scopes must be an array of texts.'],
    ['a long time-out', { ...OKTA, httpTimeoutSeconds: 121 }, '[0].httpTimeoutSeconds must be'],
    [
      'a flag as text',
      { ...OKTA, fetchUserInfo: 'yes' },
      '[0].fetchUserInfo must be true or false.',
    ],
    ['an unknown field', { ...OKTA, discovery: true }, '[0] has the field discovery'],
    ['a misspelt field', { ...OKTA, clientID: 'x' }, 'did you mean clientId?'],
    ['a misspelt rule', { ...OKTA, allow: { groupAny: ['x'] } }, 'did you mean groupsAny?'],
    [
      'a rule that is no list',
      { ...OKTA, allow: { groupsAll: 'x' } },
      '[0].allow.groupsAll must be',
    ],
    ['a wildcard', { ...OKTA, allow: { emailDomains: ['*.a'] } }, '[0].allow.emailDomains'],
    ['an e-mail', { ...OKTA, allow: { emailDomains: ['@a.b'] } }, '[0].allow.emailDomains'],
    [
      'a user with a prefix alone',
      { ...OKTA, allow: { usersAllowlist: ['sub:1', 'SUB: '] } },
      '[0].allow.usersAllowlist has an entry with nothing after its prefix.',
    ],
    [
      'a user that is no e-mail address',
      { ...OKTA, allow: { usersAllowlist: ['email:alice'] } },
      '[0].allow.usersAllowlist has an entry with email: and no e-mail address',
    ],
    ['rules as a list', { ...OKTA, allow: [] }, '[0].allow must be an object.'],
    ['an inherited field name', { ...OKTA, constructor: 1 }, '[0] has the field constructor'],
    [
      'a colour by name',
      { ...OKTA, ui: { buttonColor: 'red' } },
      '[0].ui.buttonColor must be a colour',
    ],
  ])('refuses %s', (_name, entry, message) => {
    const messages = messagesFor([entry]);
    expect(messages).toEqual([expect.stringContaining(`AUTH_PROVIDERS_CONFIG_JSON: [0]`)]);
    expect(messages[0]).toContain(message);
  });

  it('reports every problem of an entry at once, each once', () => {
    const entry = {
      ...OKTA,
      issuer: 'http://acme.okta.com',
      scopes: ['openid', 7, ''],
      clientSecret: undefined,
      discovery: true,
      groups: [],
      allow: { groupAny: ['x'] },
    };
    expect(messagesFor([entry]).sort()).toEqual(
      [
        '[0] has the field discovery, which is not known.',
        '[0] has the field groups, which is not known.',
        '[0].allow has a field that is not known; did you mean groupsAny?',
        '[0].clientSecret is missing; set it, clientSecretFile, clientKeyFile or clientAssertionFile.',
        '[0].issuer must use https (http only on a loopback host).',
        '[0].scopes must be an array of texts.',
      ].map((message) => `AUTH_PROVIDERS_CONFIG_JSON: ${message}`),
    );
  });

  it('treats null as not given', () => {
    const given = { displayName: null, scopes: null, entra: { graphUrl: null }, ui: null };
    expect(providersOf([{ ...OKTA, ...given }])).toEqual(providersOf([OKTA]));
  });

  it('refuses a repeated id, by the index of the second', () => {
    expect(messagesFor([OKTA, OKTA])).toEqual([
      'AUTH_PROVIDERS_CONFIG_JSON: [1].id is the id of another entry.',
    ]);
  });

  it.each([
    ['{"id": "okta"}', 'must be a JSON array of providers.'],
    ['[{"clientSecret": "hunter2hunter2"', 'is not valid JSON.'],
    ['[hunter2hunter2]', 'is not valid JSON.'],
    ['[{"allow": {"groupsAny": ["a"]}, "allow": {}}]', 'has the field allow twice.'],
    ['["hunter2hunter2"]', '[0] must be an object.'],
    ['[null]', '[0] must be an object.'],
  ])('refuses the text %s without repeating it', (text, message) => {
    expect(messagesFor(text)).toEqual([`AUTH_PROVIDERS_CONFIG_JSON: ${message}`]);
  });

  it('does not print a secret in the place of a field name', () => {
    const messages = messagesFor([{ ...OKTA, 'whsec_hunter2-hunter2-hunter2-hunter2': true }]);
    expect(messages).toEqual(['AUTH_PROVIDERS_CONFIG_JSON: [0] has a field that is not known.']);
  });

  it.each<[string, object, Record<string, string>, boolean]>([
    ['no address at all', {}, {}, false],
    ['a callback alone', { redirectUrl: `${PUBLIC_URL}/callback` }, {}, false],
    ['a web app alone', {}, { SERVICE_WEBAPP_URL: 'https://app.example' }, false],
    [
      'its own page switched off',
      {},
      { SERVICE_PUBLIC_URL: PUBLIC_URL, SERVICE_ACCOUNT_PAGE_ENABLED: 'false' },
      false,
    ],
    ['its own address', {}, { SERVICE_PUBLIC_URL: PUBLIC_URL }, true],
    [
      'a callback and a web app',
      { redirectUrl: `${PUBLIC_URL}/callback` },
      { SERVICE_WEBAPP_URL: 'https://app.example' },
      true,
    ],
    [
      'a callback and a return base',
      { redirectUrl: `${PUBLIC_URL}/callback` },
      { SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: 'https://app.example/back' },
      true,
    ],
  ])('starts with %s', (_what, change, environment, isOAuthConfigured) => {
    const json = JSON.stringify([{ ...OKTA, ...change }]);
    const { settings, findings } = resolveSettings({
      AUTH_PROVIDERS_CONFIG_JSON: json,
      ...environment,
    });
    expect(settings.providers).toMatchObject([{ id: 'okta', isOAuthConfigured }]);
    const codes = findings.map(({ severity, code }) => `${severity} ${code}`);
    expect(codes.includes('error oauth-not-configured')).toBe(!isOAuthConfigured);
  });

  it('refuses its own page as return address when it is not safe', () => {
    expect(messagesFor([OKTA], { SERVICE_PUBLIC_URL: 'http://gate.acme.example' })).toEqual([
      expect.stringContaining('SERVICE_PUBLIC_URL: is no safe address to return to'),
    ]);
  });
});

describe('the providers file on disk', () => {
  let directory: string;
  let path: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'providers-'));
    path = join(directory, 'providers.json');
  });

  it('reads the example of the repository, with its secrets next to it', () => {
    const example = new URL('../../../../config/providers.example.json', import.meta.url);
    writeFileSync(path, readFileSync(example));
    for (const id of ['okta', 'entra', 'keycloak', 'authentik']) {
      writeFileSync(join(directory, `${id}-client-secret.txt`), `from-${id}\n`);
      writeFileSync(join(directory, `${id}-scim-token.txt`), `${id}-`.repeat(10));
    }
    writeFileSync(join(directory, 'keycloak-signals-secret.txt'), 'signals-of-keycloak');
    const { settings, findings } = resolveSettings({
      AUTH_PROVIDERS_CONFIG_PATH: path,
      SERVICE_PUBLIC_URL: 'http://localhost:3000',
    });
    expect(settings.providers.map(({ id, clientSecret }) => [id, clientSecret])).toEqual([
      ['okta', 'from-okta'],
      ['entra', 'from-entra'],
      ['keycloak', 'from-keycloak'],
      ['authentik', 'from-authentik'],
    ]);
    expect(settings.providers.map((one) => one.type === 'oidc' && one.scim?.match)).toEqual([
      'externalId',
      'oid',
      undefined,
      'externalId',
    ]);
    expect(findings.filter(({ severity }) => severity !== 'notice')).toEqual([]);
  });

  it('is refused together with the inline text, when missing, and when a secret file is missing', () => {
    const messageFor = (environment: Record<string, string>): string => {
      try {
        resolveSettings({ SERVICE_PUBLIC_URL: PUBLIC_URL, ...environment });
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    expect(messageFor({ AUTH_PROVIDERS_CONFIG_PATH: path })).toContain('that does not exist');
    expect(
      messageFor({ AUTH_PROVIDERS_CONFIG_PATH: path, AUTH_PROVIDERS_CONFIG_JSON: '[]' }),
    ).toContain('AUTH_PROVIDERS_CONFIG_JSON are both set');
    const entry = { ...OKTA, clientSecret: undefined, clientSecretFile: 'missing' };
    writeFileSync(path, JSON.stringify([entry]));
    expect(messageFor({ AUTH_PROVIDERS_CONFIG_PATH: path })).toContain(
      '[0].clientSecretFile names a file that does not exist.',
    );
  });
});
