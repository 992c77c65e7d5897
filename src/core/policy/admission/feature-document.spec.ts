import { GITHUB, okta, policyWith, relay } from '../../../../test/fixtures/policy-fixture.js';
import { admissionTable } from './admission.js';
import { featureDocument, redirectTarget } from './feature-document.js';

/** Keyless accounts by OAuth and by certificate. */
const OPEN = policyWith({
  auth: {
    requiredLoginProviders: ['okta'],
    requireServerChallenge: false,
    signupProviders: ['okta'],
    offboarding: { enabled: true, intervalSeconds: 3600, strict: false },
  },
  encryption: {
    storagePolicy: 'optional',
    defaultAccountMode: 'plain',
    allowAccountOptOut: true,
    plainAccountSettingsAtRest: 'none',
  },
  keyless: {
    accountsEnabled: true,
    oauth: { enabled: true, providers: ['okta'], autoProvision: true },
  },
  mtls: { enabled: true, mode: 'direct' },
  providers: [okta(), GITHUB],
  ui: { autoRedirect: { enabled: true, providerId: 'okta' } },
});

const disabled = { enabled: false };
const enabled = { enabled: true };

describe(featureDocument.name, () => {
  it('says who helps refused people, and nothing where no one is configured', () => {
    const serverOf = (support?: string) =>
      featureDocument(policyWith(), '1.2.3', support).capabilities['server'];
    expect(serverOf('mailto:help@acme.example')).toEqual({
      version: '1.2.3',
      apiVersions: ['v1'],
      support: 'mailto:help@acme.example',
    });
    expect(serverOf()).not.toHaveProperty('support');
  });

  it('describes a server without variables', () => {
    expect(featureDocument(policyWith(), '1.2.3')).toEqual({
      features: {
        auth: { login: { keyChallenge: enabled }, mtls: disabled, oauthKeyless: disabled },
        e2ee: { keylessAccounts: disabled },
        encryption: { plaintextStorage: disabled, accountOptOut: disabled },
        pushTokens: enabled,
        updates: enabled,
        revocation: { replicaSeconds: 7 },
        answers: enabled,
      },
      capabilities: {
        auth: {
          methods: [
            { method: 'key_challenge', action: 'login', mode: 'keyed' },
            { method: 'key_challenge', action: 'provision', mode: 'keyed' },
          ],
          signup: { methods: [{ id: 'anonymous', enabled: true }] },
          login: { requiredProviders: [], serverChallenge: 'required' },
          providers: {},
          ui: { autoRedirect: { enabled: false, providerId: null } },
        },
        encryption: {
          storagePolicy: 'required_e2ee',
          defaultAccountMode: 'e2ee',
          allowAccountOptOut: false,
          plainAccountSettingsAtRest: 'server_sealed',
          plainAccountCredentialsAtRest: 'server_sealed',
        },
        server: { version: '1.2.3', apiVersions: ['v1'] },
      },
    });
  });

  it('describes a server with every kind of login', () => {
    const { features, capabilities } = featureDocument(OPEN, '1.2.3');
    expect(features).toEqual({
      auth: { login: { keyChallenge: enabled }, mtls: enabled, oauthKeyless: enabled },
      e2ee: { keylessAccounts: enabled },
      encryption: { plaintextStorage: enabled, accountOptOut: enabled },
      pushTokens: enabled,
      updates: enabled,
      revocation: { replicaSeconds: 7 },
      answers: enabled,
    });
    const { methods, ...auth } = capabilities.auth;
    expect(methods.map(({ method, action, mode }) => `${method} ${action} ${mode}`)).toEqual([
      ...['key_challenge login keyed', 'key_challenge provision keyed'],
      ...['okta connect keyed', 'okta connect keyless', 'okta provision keyed'],
      ...['okta login keyless', 'okta provision keyless'],
      ...['github connect keyed', 'github connect keyless'],
      ...['mtls connect keyed', 'mtls connect keyless', 'mtls login keyless'],
    ]);
    expect(auth).toEqual({
      signup: {
        methods: [
          { id: 'anonymous', enabled: true },
          { id: 'okta', enabled: true },
        ],
      },
      login: { requiredProviders: ['okta'], serverChallenge: 'optional' },
      providers: {
        okta: {
          ...{ displayName: 'Acme Okta', iconHint: 'okta', buttonColor: '#111111' },
          offboarding: { enabled: true, intervalSeconds: 3600 },
        },
        github: {
          ...{ displayName: 'GitHub', iconHint: 'github', buttonColor: null },
          offboarding: { enabled: true, intervalSeconds: 3600 },
        },
      },
      ui: { autoRedirect: { enabled: true, providerId: 'okta' } },
    });
    expect(capabilities['encryption']).toEqual({
      ...{ storagePolicy: 'optional', defaultAccountMode: 'plain', allowAccountOptOut: true },
      plainAccountSettingsAtRest: 'none',
      plainAccountCredentialsAtRest: 'server_sealed',
    });
  });

  it('reports no re-checks of a provider that cannot be asked without the user', () => {
    const offboarding = { enabled: true, intervalSeconds: 3600, strict: false };
    const providers = [okta({ storeRefreshToken: false })];
    const document = featureDocument(policyWith({ auth: { offboarding }, providers }), '1.0.0');
    expect(document.capabilities.auth['providers']).toMatchObject({
      okta: { offboarding: { enabled: false } },
    });
  });

  it('distinguishes keyless logins by certificate from those by OAuth', () => {
    const { keyless, ...rest } = OPEN;
    const policy = {
      ...rest,
      keyless: { ...keyless, oauth: { ...keyless.oauth, enabled: false } },
    };
    expect(featureDocument(policy, '1.0.0').features).toMatchObject({
      auth: { mtls: enabled, oauthKeyless: disabled },
    });
  });

  it('reports a login by device key, content and answers as the policy has them', () => {
    const auth = { keyChallengeEnabled: false };
    expect(featureDocument(policyWith({ auth }), '1.0.0').features).toMatchObject({
      auth: { login: { keyChallenge: disabled } },
      answers: disabled,
    });
    const encryption = { storagePolicy: 'plaintext_only', allowAccountOptOut: true } as const;
    const plain = featureDocument(policyWith({ encryption }), '1.0.0');
    expect(plain.features).toMatchObject({
      encryption: { plaintextStorage: enabled, accountOptOut: disabled },
    });
  });

  it('redirects only where the policy switches it on', () => {
    const ui = { autoRedirect: { enabled: false, providerId: 'okta' } };
    expect(featureDocument({ ...OPEN, ui }, '1.0.0').capabilities.auth['ui']).toEqual({
      autoRedirect: { enabled: false, providerId: null },
    });
  });

  it('lists a backend that refuses keyless accounts', () => {
    const resourceServers = [relay({ allowKeyless: false })];
    const { capabilities } = featureDocument(policyWith({ resourceServers }), '1.0.0');
    expect(capabilities['resourceServers']).toMatchObject({ relay: { keylessAccounts: false } });
  });

  it('offers a sign-up through a provider where the anonymous one is off', () => {
    const auth = { anonymousSignupEnabled: false, signupProviders: ['okta'] };
    const document = featureDocument(policyWith({ auth, providers: [okta()] }), '1.0.0');
    expect(document.capabilities.auth['signup']).toEqual({
      methods: [
        { id: 'anonymous', enabled: false },
        { id: 'okta', enabled: true },
      ],
    });
  });
});

describe(redirectTarget.name, () => {
  it.each([
    ['signs in and creates accounts', 'okta', 'okta'],
    ['only connects', 'github', null],
    ['is not configured', 'ghost', null],
    ['is not set', null, null],
  ])('judges a target that %s', (_what, providerId, expected) => {
    const target = redirectTarget(admissionTable(OPEN), { enabled: true, providerId });
    expect(target).toBe(expected);
  });

  it('accepts a provider that only creates accounts with device keys', () => {
    const policy = policyWith({ auth: { signupProviders: ['okta'] }, providers: [okta()] });
    const target = redirectTarget(admissionTable(policy), { enabled: true, providerId: 'okta' });
    expect(target).toBe('okta');
  });
});
