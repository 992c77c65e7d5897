import fc from 'fast-check';
import { okta, policyWith } from '../../../test/fakes/access-policy.js';
import { authMethods } from './auth-methods.js';
import {
  canReachKeylessAccount,
  judgeKeylessAccounts,
  judgeKeylessOAuth,
  judgeKeylessSignup,
  type KeylessRules,
  judgeProviderLogin,
  judgeProviderSignup,
  provisioningModes,
} from './keyless.js';

const OPEN: KeylessRules = {
  storagePolicy: 'optional',
  accountsEnabled: true,
  oauth: { enabled: true, providers: ['okta'], autoProvision: false },
};

const ALLOWED = { isAllowed: true };

describe('judgeKeylessOAuth', () => {
  it.each(['optional', 'plaintext_only'] as const)('allows a listed provider on %s', (policy) => {
    expect(judgeKeylessOAuth({ ...OPEN, storagePolicy: policy }, 'okta')).toEqual(ALLOWED);
  });

  it.each<[string, Partial<KeylessRules>, string, string]>([
    [
      'encryption is required',
      { storagePolicy: 'required_e2ee' },
      'e2ee-required',
      'storage-policy',
    ],
    ['keyless accounts are off', { accountsEnabled: false }, 'keyless-disabled', 'accounts'],
    [
      'keyless OAuth is off',
      { oauth: { enabled: false, providers: ['okta'], autoProvision: false } },
      'keyless-disabled',
      'oauth',
    ],
    [
      'another provider is listed',
      { oauth: { enabled: true, providers: ['acme'], autoProvision: false } },
      'keyless-disabled',
      'provider',
    ],
    [
      'no provider is listed',
      { oauth: { enabled: true, providers: [], autoProvision: false } },
      'keyless-disabled',
      'provider',
    ],
  ])('refuses when %s', (_name, facts, code, by) => {
    const decision = judgeKeylessOAuth({ ...OPEN, ...facts }, 'okta');
    expect(decision).toEqual({ isAllowed: false, code, switch: by });
  });
});

describe('judgeKeylessAccounts', () => {
  it('asks nothing about providers', () => {
    const facts = { ...OPEN, oauth: { enabled: false, providers: [], autoProvision: false } };
    expect(judgeKeylessAccounts(facts)).toEqual(ALLOWED);
  });
});

describe('judgeKeylessSignup', () => {
  it('needs auto-provisioning', () => {
    expect(judgeKeylessSignup(true)).toEqual(ALLOWED);
    expect(judgeKeylessSignup(false)).toEqual({
      isAllowed: false,
      code: 'signup-provider-disabled',
      switch: 'auto-provision',
    });
  });
});

describe('canReachKeylessAccount', () => {
  it.each<[string, readonly string[], boolean, boolean]>([
    ['nothing is left', [], true, false],
    ['a listed provider is left', ['okta'], false, true],
    ['a provider is left that is not listed', ['acme'], true, false],
    ['a certificate is left, and certificates log in', ['mtls'], true, true],
    ['a certificate is left, and certificates are off', ['mtls'], false, false],
  ])('when %s', (_name, providers, certificatesEnabled, expected) => {
    expect(canReachKeylessAccount(OPEN, certificatesEnabled, providers)).toBe(expected);
  });
});

const NOTHING: KeylessRules = {
  storagePolicy: 'required_e2ee',
  accountsEnabled: false,
  oauth: { enabled: false, providers: [], autoProvision: false },
};

const KEYLESS: KeylessRules = {
  ...NOTHING,
  storagePolicy: 'optional',
  accountsEnabled: true,
  oauth: { enabled: true, providers: ['okta'], autoProvision: true },
};

const providers = fc.constantFrom<string[][]>([], ['okta'], ['github'], ['github', 'okta']);

const anyFacts: fc.Arbitrary<KeylessRules> = fc.record({
  storagePolicy: fc.constantFrom('required_e2ee', 'optional', 'plaintext_only'),
  accountsEnabled: fc.boolean(),
  oauth: fc.record({ enabled: fc.boolean(), providers, autoProvision: fc.boolean() }),
});

describe(judgeProviderLogin.name, () => {
  it('lets keyed logins begin under every policy: a key with an account may link', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(judgeProviderLogin('keyed', facts, 'okta')).toEqual({ isAllowed: true });
      }),
    );
  });

  it('refuses keyless logins where every account has a device key', () => {
    const facts = { ...KEYLESS, storagePolicy: 'required_e2ee' as const };
    const refused = { isAllowed: false, code: 'e2ee-required' };
    expect(judgeProviderLogin('keyless', facts, 'okta')).toMatchObject(refused);
  });

  it.each<[string, Partial<KeylessRules>]>([
    ['keyless accounts are off', { accountsEnabled: false }],
    ['keyless OAuth is off', { oauth: { ...KEYLESS.oauth, enabled: false } }],
    ['the provider is not listed', { oauth: { ...KEYLESS.oauth, providers: [] } }],
  ])('refuses keyless logins when %s', (_, change) => {
    const refused = { isAllowed: false, code: 'keyless-disabled' };
    expect(judgeProviderLogin('keyless', { ...KEYLESS, ...change }, 'okta')).toMatchObject(refused);
  });

  it('lets keyless logins begin without auto-provision: the account may exist', () => {
    const facts = { ...KEYLESS, oauth: { ...KEYLESS.oauth, autoProvision: false } };
    expect(judgeProviderLogin('keyless', facts, 'okta')).toEqual({ isAllowed: true });
  });
});

describe(judgeProviderSignup.name, () => {
  it('refuses providers that may not make accounts, and an empty list means none', () => {
    const refused = { isAllowed: false, code: 'signup-provider-disabled' };
    expect(judgeProviderSignup(NOTHING, [], 'okta')).toEqual(refused);
    expect(judgeProviderSignup(NOTHING, ['github'], 'okta')).toEqual(refused);
    expect(judgeProviderSignup(NOTHING, ['github'], 'github')).toEqual({ isAllowed: true });
  });

  it('refuses device-key accounts where everything is plain', () => {
    const keyless = { ...KEYLESS, storagePolicy: 'plaintext_only' as const };
    expect(judgeProviderSignup(keyless, ['okta'], 'okta').isAllowed).toBe(false);
  });
});

describe(provisioningModes.name, () => {
  it('offers both where both are on, plain first', () => {
    expect(provisioningModes(KEYLESS, ['okta'], 'okta')).toEqual(['plain', 'e2ee']);
    expect(provisioningModes(KEYLESS, ['okta'], 'github')).toEqual([]);
  });

  it('says what discovery says, under every policy', () => {
    fc.assert(
      fc.property(anyFacts, providers, (facts, signupProviders) => {
        const policy = policyWith({
          encryption: { storagePolicy: facts.storagePolicy },
          auth: { signupProviders },
          keyless: facts,
          providers: [okta()],
        });
        const advertised = authMethods(policy, false).filter(
          ({ method, action }) => method === 'okta' && action === 'provision',
        );
        const modes = advertised.map(({ mode }) => (mode === 'keyed' ? 'e2ee' : 'plain'));
        expect(new Set(provisioningModes(facts, signupProviders, 'okta'))).toEqual(new Set(modes));
      }),
    );
  });
});
