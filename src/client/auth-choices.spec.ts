import { featureDocument, type FeatureFacts } from '../policy/feature-document.js';
import { authChoices, type AuthChoices } from './auth-choices.js';

const OKTA = { id: 'okta', displayName: 'Acme Okta', iconHint: 'okta', buttonColor: '#111111' };

/** The document that a server under this policy really sends. */
function document(policy: Partial<FeatureFacts>): unknown {
  const facts: FeatureFacts = {
    storagePolicy: 'required_e2ee',
    keyChallengeEnabled: true,
    keyedAccountsExist: false,
    anonymousSignupEnabled: true,
    keylessAccountsEnabled: false,
    keylessOAuthEnabled: false,
    keylessOAuthProviders: [],
    keylessOAuthAutoProvision: false,
    signupProviders: [],
    providers: [],
    mtlsUsable: false,
    mtlsAutoProvision: false,
    requiredProviders: [],
    requireServerChallenge: false,
    looks: policy.providers?.includes('okta') ? [OKTA] : [],
    autoRedirectProvider: null,
    defaultAccountMode: 'e2ee',
    allowAccountOptOut: false,
    plainAccountSettingsAtRest: 'server_sealed',
    plainAccountCredentialsAtRest: 'server_sealed',
    version: '1.0.0',
    ...policy,
  };
  return JSON.parse(JSON.stringify(featureDocument(facts)));
}

const KEYLESS = {
  keylessAccountsEnabled: true,
  keylessOAuthEnabled: true,
  keylessOAuthProviders: ['okta'],
  keylessOAuthAutoProvision: true,
  providers: ['okta'],
} satisfies Partial<FeatureFacts>;

/** What matters of the choices, in few words. */
function summary({ deviceKey, certificate, providers }: AuthChoices): object {
  return {
    deviceKey: `${deviceKey.canLogIn ? 'login' : ''} ${deviceKey.canSignUp ? 'signup' : ''}`.trim(),
    certificate: certificate.canLogIn,
    providers: Object.fromEntries(
      providers.map(({ id, provisioning, startMode }) => [
        id,
        `${startMode}: ${provisioning.kind === 'selected' ? provisioning.mode : provisioning.kind}`,
      ]),
    ),
  };
}

describe(authChoices.name, () => {
  it.each<[string, Partial<FeatureFacts>, object]>([
    [
      'Private network only (default): a device key',
      {},
      { deviceKey: 'login signup', certificate: false, providers: {} },
    ],
    [
      'Private network, multiple signup options: a device key, or a provider first',
      { providers: ['okta'], signupProviders: ['okta'] },
      { deviceKey: 'login signup', certificate: false, providers: { okta: 'keyed: e2ee' } },
    ],
    [
      'Public, provider enforced: no anonymous signup',
      { anonymousSignupEnabled: false, providers: ['okta'], signupProviders: ['okta'] },
      { deviceKey: 'login', certificate: false, providers: { okta: 'keyed: e2ee' } },
    ],
    [
      'Enterprise keyless-only: plain without a screen (OAuth provisioning choice 3)',
      { ...KEYLESS, storagePolicy: 'plaintext_only', anonymousSignupEnabled: false },
      { deviceKey: '', certificate: false, providers: { okta: 'keyless: plain' } },
    ],
    [
      'Enterprise optional encryption: both, so ask (OAuth provisioning choice 1 and 2)',
      {
        ...KEYLESS,
        storagePolicy: 'optional',
        anonymousSignupEnabled: false,
        signupProviders: ['okta'],
      },
      { deviceKey: 'login', certificate: false, providers: { okta: 'keyless: ask' } },
    ],
    [
      'optional with keyless alone: no screen (OAuth provisioning choice 2)',
      { ...KEYLESS, storagePolicy: 'optional' },
      { deviceKey: 'login signup', certificate: false, providers: { okta: 'keyless: plain' } },
    ],
    [
      'keyless login without auto-provision: known people only',
      { ...KEYLESS, storagePolicy: 'optional', keylessOAuthAutoProvision: false },
      { deviceKey: 'login signup', certificate: false, providers: { okta: 'keyless: none' } },
    ],
    [
      'a provider that only links: no button on the login screen',
      { providers: ['okta'] },
      { deviceKey: 'login signup', certificate: false, providers: {} },
    ],
    [
      'client certificates',
      {
        keylessAccountsEnabled: true,
        storagePolicy: 'plaintext_only',
        mtlsUsable: true,
        anonymousSignupEnabled: false,
      },
      { deviceKey: '', certificate: true, providers: {} },
    ],
  ])('%s', (_name, policy, expected) => {
    expect(summary(authChoices(document(policy)))).toEqual(expected);
  });

  it('takes names and colours of a provider from the document', () => {
    const { providers } = authChoices(document({ providers: ['okta'], signupProviders: ['okta'] }));
    expect(providers).toEqual([
      {
        ...OKTA,
        canLogInKeyless: false,
        provisioning: { kind: 'selected', mode: 'e2ee' },
        startMode: 'keyed',
      },
    ]);
  });

  it('lists what can be linked, by the kind of account', () => {
    const { connectable } = authChoices(document({ ...KEYLESS, storagePolicy: 'optional' }));
    expect(connectable).toEqual({ keyed: ['okta'], keyless: ['okta'] });
    expect(authChoices(document({ providers: ['okta'] })).connectable).toEqual({
      keyed: ['okta'],
      keyless: [],
    });
  });

  it('redirects to a provider that can be used, and to no other', () => {
    const policy = { providers: ['okta'], autoRedirectProvider: 'okta' };
    const usable = authChoices(document({ ...policy, signupProviders: ['okta'] }));
    expect(usable.autoRedirectProviderId).toBe('okta');
    expect(authChoices(document(policy)).autoRedirectProviderId).toBeNull();
  });
});

const keyed = (method: unknown, action: unknown = 'provision', mode: unknown = 'keyed') => ({
  method,
  action,
  mode,
});

describe('methods that are not understood', () => {
  it.each<[string, unknown[]]>([
    ['a method of a newer server', [keyed('passkey', 'login')]],
    ['a provider that the document does not describe', [keyed('gitlab')]],
    ['an action nobody knows', [keyed('okta', 'impersonate')]],
    ['a mode nobody knows', [keyed('okta', 'provision', 'quantum')]],
    ['a method without a name', [keyed(7), keyed(null), null, 'okta', {}]],
    ['the name of a field of every object', [keyed('__proto__'), keyed('constructor')]],
  ])('%s is left out', (_name, extra) => {
    const methods = [...extra, keyed('key_challenge', 'login')];
    const choices = authChoices({ capabilities: { auth: { methods, providers: { okta: OKTA } } } });
    expect(summary(choices)).toEqual({ deviceKey: 'login', certificate: false, providers: {} });
  });

  it('plain ways in of a server that requires e2ee are not offered (choice 3)', () => {
    const methods = [keyed('okta', 'login', 'keyless'), keyed('okta', 'provision', 'keyless')];
    const auth = { methods, providers: { okta: OKTA } };
    for (const encryption of [{ storagePolicy: 'required_e2ee' }, {}, undefined]) {
      expect(authChoices({ capabilities: { auth, encryption } }).providers).toEqual([]);
    }
  });

  it.each([null, undefined, 7, [], {}, { capabilities: null }, { capabilities: { auth: [] } }])(
    'a document like %j offers nothing',
    (features) => {
      const choices = authChoices(features);
      expect(summary(choices)).toEqual({ deviceKey: '', certificate: false, providers: {} });
    },
  );
});

describe('Versioning 2: the legacy surface', () => {
  const legacy = (methods: unknown): unknown => ({
    capabilities: { auth: { signup: { methods } } },
  });

  it.each<[string, unknown, object]>([
    [
      'anonymous and a provider',
      [
        { id: 'anonymous', enabled: true },
        { id: 'github', enabled: true },
      ],
      { deviceKey: 'login signup', certificate: false, providers: { github: 'keyed: e2ee' } },
    ],
    [
      'anonymous switched off, and so the provider',
      [
        { id: 'anonymous', enabled: false },
        { id: 'github', enabled: false },
      ],
      { deviceKey: 'login', certificate: false, providers: {} },
    ],
    ['nothing at all', [], { deviceKey: 'login', certificate: false, providers: {} }],
  ])('%s', (_name, methods, expected) => {
    expect(summary(authChoices(legacy(methods)))).toEqual(expected);
  });

  it('is not read where there are methods, even none', () => {
    const auth = { methods: [], signup: { methods: [{ id: 'anonymous', enabled: true }] } };
    expect(summary(authChoices({ capabilities: { auth } }))).toEqual({
      deviceKey: '',
      certificate: false,
      providers: {},
    });
  });
});
