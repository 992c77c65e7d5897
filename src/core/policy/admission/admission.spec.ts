import {
  GITHUB,
  okta,
  policyWith,
  relay,
  type PolicyChange,
} from '../../../../test/fixtures/policy-fixture.js';
import {
  acceptsKeyless,
  admissionTable,
  allowedMethods,
  isMtlsReachable,
  judgeAdmission,
  keylessLogins,
  methodsWith,
  type AuthAction,
  type AuthMode,
} from './admission.js';
import { featureDocument } from './feature-document.js';
import type { ResourceServer } from './resource-server.js';

const restrictedOkta = okta({ allow: { groupsAny: ['staff'] } });

/** Every entry of every method is allowed. */
const OPEN: PolicyChange = {
  auth: { signupInvitationsEnabled: true, signupProviders: ['okta'] },
  encryption: { storagePolicy: 'optional' },
  keyless: {
    accountsEnabled: true,
    oauth: { enabled: true, providers: ['okta'], autoProvision: true },
  },
  mtls: { enabled: true, mode: 'direct', autoProvision: true },
  providers: [okta()],
};

describe('the admission table', () => {
  it.each<[string, AuthAction, AuthMode]>([
    ['key_challenge', 'login', 'keyed'],
    ['key_challenge', 'provision', 'keyed'],
    ['invitation', 'provision', 'keyed'],
    ['okta', 'connect', 'keyed'],
    ['okta', 'connect', 'keyless'],
    ['okta', 'provision', 'keyed'],
    ['okta', 'login', 'keyless'],
    ['okta', 'provision', 'keyless'],
    ['mtls', 'connect', 'keyed'],
    ['mtls', 'connect', 'keyless'],
    ['mtls', 'login', 'keyless'],
    ['mtls', 'provision', 'keyless'],
  ])('allows %s to %s an account that is %s where the policy is open', (method, action, mode) => {
    const table = admissionTable(policyWith(OPEN));
    expect(judgeAdmission(table, method, action, mode)).toEqual({ isAllowed: true });
    expect(table).toHaveLength(12);
    expect(allowedMethods(table)).toHaveLength(12);
    expect(table.some((entry) => 'restricted' in entry)).toBe(false);
  });

  const noKeys = { auth: { keyChallengeEnabled: false } };
  const plaintext = { encryption: { storagePolicy: 'plaintext_only' } } as const;
  const required = { encryption: { storagePolicy: 'required_e2ee' } } as const;
  const noKeyless = { keyless: { accountsEnabled: false } };
  const oauth = (change: object) => ({
    keyless: { oauth: { enabled: true, providers: ['okta'], autoProvision: true, ...change } },
  });
  const noMtls = { mtls: { enabled: false } };
  const unreachable = { mtls: { mode: 'forwarded' } } as const;
  const unconfigured = { providers: [okta({ isOAuthConfigured: false })] };
  const keys = ['key-challenge-disabled', 'AUTH_KEY_CHALLENGE_ENABLED'] as const;
  const policyOf = 'SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY';
  const accounts = 'SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED';
  const mtls = 'SERVICE_FEATURE_AUTH_MTLS__';
  const keylessOAuth = 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_';

  it.each<[string, PolicyChange, string, string]>([
    ['key_challenge login keyed', noKeys, ...keys],
    ['key_challenge provision keyed', noKeys, ...keys],
    ['key_challenge provision keyed', plaintext, 'signup-disabled', policyOf],
    [
      'key_challenge provision keyed',
      { auth: { anonymousSignupEnabled: false } },
      'signup-disabled',
      'AUTH_ANONYMOUS_SIGNUP_ENABLED',
    ],
    ['invitation provision keyed', noKeys, ...keys],
    ['invitation provision keyed', plaintext, 'signup-disabled', policyOf],
    [
      'invitation provision keyed',
      { auth: { signupInvitationsEnabled: false } },
      'signup-disabled',
      'AUTH_SIGNUP_INVITATIONS_ENABLED',
    ],
    ['okta connect keyed', unconfigured, 'oauth-not-configured', 'SERVICE_PUBLIC_URL'],
    ['okta connect keyless', unconfigured, 'oauth-not-configured', 'SERVICE_PUBLIC_URL'],
    ['okta provision keyed', unconfigured, 'oauth-not-configured', 'SERVICE_PUBLIC_URL'],
    ['okta login keyless', unconfigured, 'oauth-not-configured', 'SERVICE_PUBLIC_URL'],
    ['okta provision keyless', unconfigured, 'oauth-not-configured', 'SERVICE_PUBLIC_URL'],
    ['okta connect keyless', required, 'e2ee-required', policyOf],
    ['okta connect keyless', noKeyless, 'keyless-disabled', accounts],
    ['okta provision keyed', noKeys, ...keys],
    ['okta provision keyed', plaintext, 'signup-provider-disabled', policyOf],
    [
      'okta provision keyed',
      { auth: { signupProviders: ['github'] } },
      'signup-provider-disabled',
      'AUTH_SIGNUP_PROVIDERS',
    ],
    ['okta login keyless', required, 'e2ee-required', policyOf],
    ['okta login keyless', noKeyless, 'keyless-disabled', accounts],
    ['okta login keyless', oauth({ enabled: false }), 'keyless-disabled', `${keylessOAuth}ENABLED`],
    [
      'okta login keyless',
      oauth({ providers: [] }),
      'keyless-disabled',
      `${keylessOAuth}PROVIDERS`,
    ],
    ['okta provision keyless', required, 'e2ee-required', policyOf],
    [
      'okta provision keyless',
      oauth({ providers: ['github'] }),
      'keyless-disabled',
      `${keylessOAuth}PROVIDERS`,
    ],
    [
      'okta provision keyless',
      oauth({ autoProvision: false }),
      'signup-provider-disabled',
      `${keylessOAuth}AUTO_PROVISION`,
    ],
    ['mtls connect keyed', noMtls, 'not-found', `${mtls}ENABLED`],
    ['mtls connect keyed', unreachable, 'mtls-required', `${mtls}TRUST_FORWARDED_HEADERS`],
    ['mtls connect keyless', noMtls, 'not-found', `${mtls}ENABLED`],
    ['mtls connect keyless', required, 'e2ee-required', policyOf],
    ['mtls connect keyless', noKeyless, 'keyless-disabled', accounts],
    ['mtls login keyless', noMtls, 'not-found', `${mtls}ENABLED`],
    ['mtls login keyless', required, 'e2ee-required', policyOf],
    ['mtls login keyless', noKeyless, 'keyless-disabled', accounts],
    ['mtls login keyless', unreachable, 'mtls-required', `${mtls}TRUST_FORWARDED_HEADERS`],
    ['mtls provision keyless', noMtls, 'not-found', `${mtls}ENABLED`],
    ['mtls provision keyless', required, 'e2ee-required', policyOf],
    [
      'mtls provision keyless',
      { mtls: { autoProvision: false } },
      'signup-provider-disabled',
      `${mtls}AUTO_PROVISION`,
    ],
  ])('refuses %s under %j: %s by %s', (entry, change, code, variable) => {
    const policy = policyWith(OPEN, {
      ...change,
      ...(change.keyless && { keyless: { ...OPEN.keyless, ...change.keyless } }),
    });
    const [method, action, mode] = entry.split(' ') as [string, AuthAction, AuthMode];
    expect(judgeAdmission(admissionTable(policy), method, action, mode)).toEqual({
      ...{ isAllowed: false, code, variable },
    });
  });

  it('refuses every method of a provider that is not configured', () => {
    expect(judgeAdmission(admissionTable(policyWith()), 'okta', 'connect', 'keyed')).toEqual({
      ...{ isAllowed: false, code: 'unsupported-provider' },
      variable: 'AUTH_PROVIDERS_CONFIG_PATH',
    });
  });

  it.each<[string, PolicyChange, string[]]>([
    ['by default', {}, ['key_challenge login keyed', 'key_challenge provision keyed']],
    [
      'on plaintext_only: keyed accounts that exist sign in, and none is created',
      { encryption: { storagePolicy: 'plaintext_only' }, auth: { signupProviders: ['okta'] } },
      ['key_challenge login keyed', 'okta connect keyed'],
    ],
    [
      'with invitations, anonymous sign-up off',
      { auth: { anonymousSignupEnabled: false, signupInvitationsEnabled: true } },
      ['key_challenge login keyed', 'invitation provision keyed', 'okta connect keyed'],
    ],
    [
      'without device keys, and so without invitations',
      { auth: { keyChallengeEnabled: false, signupInvitationsEnabled: true } },
      ['okta connect keyed'],
    ],
    [
      'without device keys',
      { auth: { keyChallengeEnabled: false, signupProviders: ['okta'] } },
      ['okta connect keyed'],
    ],
    [
      'where encryption is required, whatever is on for keyless accounts',
      {
        keyless: {
          accountsEnabled: true,
          oauth: { enabled: true, providers: ['okta'], autoProvision: true },
        },
        mtls: { enabled: true, mode: 'direct', autoProvision: true },
      },
      [
        'key_challenge login keyed',
        'key_challenge provision keyed',
        'okta connect keyed',
        'mtls connect keyed',
      ],
    ],
  ])('allows %s', (name, change, expected) => {
    const providers = name === 'by default' ? [] : [okta()];
    const methods = allowedMethods(admissionTable(policyWith({ ...change, providers })));
    expect(methods.map(({ method, action, mode }) => `${method} ${action} ${mode}`)).toEqual(
      expected,
    );
  });

  it('shows invitations in fields that older clients ignore, and in no other place', () => {
    const auth = { anonymousSignupEnabled: false, signupInvitationsEnabled: true };
    const document = featureDocument(policyWith({ auth }), '1.0.0').capabilities.auth;
    expect(document.methods).toEqual([{ method: 'key_challenge', action: 'login', mode: 'keyed' }]);
    expect(document['signup']).toEqual({
      methods: [
        { id: 'anonymous', enabled: false },
        { id: 'invitation', enabled: true },
      ],
    });
  });

  it('names backends with their rules, and nothing where there is none', () => {
    const read = (...resourceServers: ResourceServer[]) =>
      featureDocument(policyWith({ resourceServers }), '1.0.0').capabilities['resourceServers'];
    expect(read()).toBeUndefined();
    expect(read(relay({ requireProviders: ['okta'] }))).toEqual({
      relay: {
        displayName: 'Relay',
        resource: 'https://relay.example.com',
        requiredProviders: ['okta'],
        keylessAccounts: true,
      },
    });
  });

  it('names the entries that an allowlist restricts, and never its items', () => {
    const policy = policyWith({ providers: [restrictedOkta, GITHUB] });
    const { methods, providers } = featureDocument(policy, '1.0.0').capabilities.auth;
    expect(methods).toContainEqual({
      ...{ method: 'okta', action: 'connect', mode: 'keyed' },
      restricted: true,
    });
    expect(methods).toContainEqual({ method: 'github', action: 'connect', mode: 'keyed' });
    expect(providers).toMatchObject({
      okta: { offboarding: { enabled: false, intervalSeconds: 86_400 } },
    });
    expect(JSON.stringify(featureDocument(policy, '1.0.0'))).not.toContain('staff');
  });

  it.each([
    ['required_e2ee', 'plain', 'e2ee', false],
    ['plaintext_only', 'e2ee', 'plain', false],
    ['optional', 'plain', 'plain', true],
  ] as const)(
    'shows on %s with %s the mode %s',
    (storagePolicy, configured, printed, canOptOut) => {
      const policy = policyWith({
        encryption: { storagePolicy, defaultAccountMode: configured, allowAccountOptOut: true },
      });
      expect(featureDocument(policy, '1.0.0').capabilities['encryption']).toMatchObject({
        defaultAccountMode: printed,
        allowAccountOptOut: canOptOut,
      });
    },
  );
});

describe('a method whose certificates or people are restricted', () => {
  it.each([
    ['no list', {}, undefined],
    ['a list of domains', { allowedEmailDomains: ['acme.example'] }, true],
    ['a list of issuers', { allowedIssuers: ['Acme CA'] }, true],
  ])('is marked in each entry, with %s', (_what, change, restricted) => {
    const policy = policyWith(OPEN, { mtls: change });
    const marks = admissionTable(policy).filter(({ method }) => method === 'mtls');
    expect(marks.map((entry) => entry.restricted)).toEqual(Array(4).fill(restricted));
    expect(marks.every((entry) => 'restricted' in entry)).toBe(restricted === true);
  });
});

describe(methodsWith.name, () => {
  it('returns the allowed methods of an action and a mode', () => {
    const table = admissionTable(policyWith(OPEN, { mtls: { autoProvision: false } }));
    expect(methodsWith(table, 'login', 'keyless')).toEqual(['okta', 'mtls']);
    expect(methodsWith(table, 'provision', 'keyless')).toEqual(['okta']);
    expect(methodsWith(table, 'login', 'keyed')).toEqual(['key_challenge']);
  });
});

describe(judgeAdmission.name, () => {
  it('refuses an action that a method does not have', () => {
    const table = admissionTable(policyWith(OPEN));
    for (const [action, mode] of [
      ['login', 'keyless'],
      ['connect', 'keyed'],
    ] as const) {
      expect(judgeAdmission(table, 'key_challenge', action, mode)).toMatchObject({
        code: 'unsupported-provider',
      });
    }
  });
});

describe(isMtlsReachable.name, () => {
  const { mtls } = policyWith();

  it.each([
    ['direct', false, [], true],
    ['forwarded', true, ['10.0.0.1'], true],
    ['forwarded', true, [], false],
    ['forwarded', false, ['10.0.0.1'], false],
  ] as const)('judges %s, trusted %s, from %j: %s', (mode, trusts, trustedProxies, expected) => {
    const rules = { ...mtls, mode, trustForwardedHeaders: trusts, trustedProxies };
    expect(isMtlsReachable(rules)).toBe(expected);
  });
});

describe(keylessLogins.name, () => {
  it.each<[string, PolicyChange, string[]]>([
    ['every method', {}, ['okta', 'mtls']],
    ['a provider that is only connected', { providers: [okta(), GITHUB] }, ['okta', 'mtls']],
    [
      'a provider without a callback',
      { providers: [okta({ isOAuthConfigured: false })] },
      ['mtls'],
    ],
    ['no certificates', { mtls: { enabled: false } }, ['okta']],
    ['keys for all', { encryption: { storagePolicy: 'required_e2ee' } }, []],
  ])('returns what the table allows, with %s', (_what, change, expected) => {
    const policy = policyWith(OPEN, change);
    expect(keylessLogins(policy)).toEqual(expected);
    expect(methodsWith(admissionTable(policy), 'login', 'keyless')).toEqual(expected);
  });
});

describe(acceptsKeyless.name, () => {
  it.each([
    [true, 'optional', true],
    [true, 'plaintext_only', true],
    [true, 'required_e2ee', false],
    [false, 'optional', false],
  ] as const)('judges switch %s on %s: %s', (accountsEnabled, storagePolicy, expected) => {
    const keyless = { accountsEnabled };
    expect(acceptsKeyless(policyWith({ keyless, encryption: { storagePolicy } }))).toBe(expected);
  });
});
