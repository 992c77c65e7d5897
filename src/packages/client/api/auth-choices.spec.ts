import { okta, policyWith, type PolicyChange } from '../../../../test/fixtures/policy-fixture.js';
import { featureDocument } from '../../../core/policy/admission/feature-document.js';
import type { AccountMode, StoragePolicy } from '../../../core/policy/operator-policy.js';
import {
  authChoices,
  chooseProvisioning,
  type AuthChoices,
  type ProvisioningChoice,
} from './auth-choices.js';

const OKTA = { id: 'okta', displayName: 'Acme Okta', iconHint: 'okta', buttonColor: '#111111' };

function document(...changes: readonly PolicyChange[]): unknown {
  return JSON.parse(JSON.stringify(featureDocument(policyWith(...changes), '1.0.0')));
}

const CONNECTED: PolicyChange = { providers: [okta()] };
const SIGNUP: PolicyChange = { auth: { signupProviders: ['okta'] } };
const NOT_ANONYMOUS: PolicyChange = { auth: { anonymousSignupEnabled: false } };
const OPTIONAL: PolicyChange = { encryption: { storagePolicy: 'optional' } };
const PLAINTEXT: PolicyChange = { encryption: { storagePolicy: 'plaintext_only' } };
const KEYLESS: PolicyChange = {
  ...CONNECTED,
  keyless: {
    accountsEnabled: true,
    oauth: { enabled: true, providers: ['okta'], autoProvision: true },
  },
};

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
  it.each<[string, PolicyChange[], object]>([
    [
      'Private network only (default): a device key',
      [],
      { deviceKey: 'login signup', certificate: false, providers: {} },
    ],
    [
      'Private network, multiple signup options: a device key, or a provider first',
      [CONNECTED, SIGNUP],
      { deviceKey: 'login signup', certificate: false, providers: { okta: 'keyed: e2ee' } },
    ],
    [
      'Public, provider enforced: no anonymous signup',
      [CONNECTED, SIGNUP, NOT_ANONYMOUS],
      { deviceKey: 'login', certificate: false, providers: { okta: 'keyed: e2ee' } },
    ],
    [
      'Enterprise keyless-only: plain without a screen (OAuth provisioning choice 3)',
      [KEYLESS, PLAINTEXT, NOT_ANONYMOUS],
      { deviceKey: 'login', certificate: false, providers: { okta: 'keyless: plain' } },
    ],
    [
      'Enterprise optional encryption: both, so ask (OAuth provisioning choice 1 and 2)',
      [KEYLESS, OPTIONAL, SIGNUP, NOT_ANONYMOUS],
      { deviceKey: 'login', certificate: false, providers: { okta: 'keyless: ask' } },
    ],
    [
      'optional with keyless alone: no screen (OAuth provisioning choice 2)',
      [KEYLESS, OPTIONAL],
      { deviceKey: 'login signup', certificate: false, providers: { okta: 'keyless: plain' } },
    ],
    [
      'keyless login without auto-provision: known people only',
      [
        KEYLESS,
        OPTIONAL,
        { keyless: { oauth: { enabled: true, providers: ['okta'], autoProvision: false } } },
      ],
      { deviceKey: 'login signup', certificate: false, providers: { okta: 'keyless: none' } },
    ],
    [
      'a provider that only links: no button on the login screen',
      [CONNECTED],
      { deviceKey: 'login signup', certificate: false, providers: {} },
    ],
    [
      'client certificates',
      [
        PLAINTEXT,
        NOT_ANONYMOUS,
        { keyless: { accountsEnabled: true }, mtls: { enabled: true, mode: 'direct' } },
      ],
      { deviceKey: 'login', certificate: true, providers: {} },
    ],
  ])('%s', (_name, changes, expected) => {
    expect(summary(authChoices(document(...changes)))).toEqual(expected);
  });

  it('reads names and colours of a provider from the document', () => {
    const { providers } = authChoices(document(CONNECTED, SIGNUP));
    expect(providers).toEqual([
      {
        ...OKTA,
        canLogInKeyless: false,
        provisioning: { kind: 'selected', mode: 'e2ee' },
        startMode: 'keyed',
      },
    ]);
  });

  it('lists the providers that can be linked, by the kind of account', () => {
    const { connectable } = authChoices(document(KEYLESS, OPTIONAL));
    expect(connectable).toEqual({ keyed: ['okta'], keyless: ['okta'] });
    expect(authChoices(document(CONNECTED)).connectable).toEqual({ keyed: ['okta'], keyless: [] });
  });

  it('redirects to a provider that can be used, and to no other', () => {
    const policy: PolicyChange = {
      ...CONNECTED,
      ui: { autoRedirect: { enabled: true, providerId: 'okta' } },
    };
    const usable = authChoices(document(policy, SIGNUP));
    expect(usable.autoRedirectProviderId).toBe('okta');
    expect(authChoices(document(policy)).autoRedirectProviderId).toBeNull();
  });
});

const keyed = (method: unknown, action: unknown = 'provision', mode: unknown = 'keyed') => ({
  method,
  action,
  mode,
});

describe('methods that are unknown', () => {
  it.each<[string, unknown[]]>([
    ['a method of a newer server', [keyed('passkey', 'login')]],
    ['a provider that the document does not describe', [keyed('gitlab')]],
    ['an unknown action', [keyed('okta', 'impersonate')]],
    ['an unknown mode', [keyed('okta', 'provision', 'quantum')]],
    ['a method without a name', [keyed(7), keyed(null), null, 'okta', {}]],
    ['the name of a field of every object', [keyed('__proto__'), keyed('constructor')]],
  ])('omits %s', (_name, extra) => {
    const methods = [...extra, keyed('key_challenge', 'login')];
    const choices = authChoices({ capabilities: { auth: { methods, providers: { okta: OKTA } } } });
    expect(summary(choices)).toEqual({ deviceKey: 'login', certificate: false, providers: {} });
  });

  it('omits plain logins of a server that requires e2ee (choice 3)', () => {
    const methods = [keyed('okta', 'login', 'keyless'), keyed('okta', 'provision', 'keyless')];
    const auth = { methods, providers: { okta: OKTA } };
    for (const encryption of [{ storagePolicy: 'required_e2ee' }, {}, undefined]) {
      expect(authChoices({ capabilities: { auth, encryption } }).providers).toEqual([]);
    }
  });

  it.each([null, undefined, 7, [], {}, { capabilities: null }, { capabilities: { auth: [] } }])(
    'offers nothing for a document like %j',
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

  it('is not read where methods exist, even if empty', () => {
    const auth = { methods: [], signup: { methods: [{ id: 'anonymous', enabled: true }] } };
    expect(summary(authChoices({ capabilities: { auth } }))).toEqual({
      deviceKey: '',
      certificate: false,
      providers: {},
    });
  });
});

describe('sign-up with an invitation', () => {
  const choice = (signup: unknown) =>
    authChoices({ capabilities: { auth: { methods: [], signup } } }).deviceKey;

  it('is offered where the server accepts invitations', () => {
    const methods = [
      { id: 'anonymous', enabled: false },
      { id: 'invitation', enabled: true },
    ];
    expect(choice({ methods })).toEqual({
      canLogIn: false,
      canSignUp: false,
      canSignUpInvited: true,
    });
  });

  it.each([
    [undefined],
    [{ methods: 'invitation' }],
    [{ methods: [null, 'invitation', { id: 'invitation' }] }],
    [{ methods: [{ id: 'invitation', enabled: false }] }],
  ])('is not offered by %j', (signup) => {
    expect(choice(signup).canSignUpInvited).toBe(false);
  });
});

const ASK: ProvisioningChoice = { kind: 'ask', modes: ['e2ee', 'plain'] };
const E2EE: ProvisioningChoice = { kind: 'selected', mode: 'e2ee' };
const PLAIN: ProvisioningChoice = { kind: 'selected', mode: 'plain' };
const NONE: ProvisioningChoice = { kind: 'none' };

describe('the choice of OAuth provisioning', () => {
  it.each<[string, StoragePolicy, AccountMode[], ProvisioningChoice]>([
    ['1: optional lets the person choose', 'optional', ['e2ee', 'plain'], ASK],
    ['2: both ways show the choice, in one order', 'optional', ['plain', 'e2ee'], ASK],
    ['2: keyed alone is selected without a screen', 'optional', ['e2ee'], E2EE],
    ['2: keyless alone is selected without a screen', 'optional', ['plain'], PLAIN],
    ['2: no way is no choice', 'optional', [], NONE],
    ['3: plaintext_only chooses plain', 'plaintext_only', ['e2ee', 'plain'], PLAIN],
    ['3: plaintext_only chooses plain where it stands alone', 'plaintext_only', ['plain'], PLAIN],
    ['3: plaintext_only never falls back to e2ee', 'plaintext_only', ['e2ee'], NONE],
    ['3: required_e2ee does not offer plain', 'required_e2ee', ['e2ee', 'plain'], E2EE],
    ['3: required_e2ee does not offer plain alone', 'required_e2ee', ['plain'], NONE],
  ])('%s', (_rule, policy, offered, choice) => {
    expect(chooseProvisioning(policy, offered)).toEqual(choice);
  });
});
