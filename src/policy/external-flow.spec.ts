import fc from 'fast-check';
import { authMethods } from './auth-methods.js';
import {
  judgeExternalLogin,
  judgeExternalSignup,
  provisioningModes,
  type ExternalFlowFacts,
} from './external-flow.js';

const NOTHING: ExternalFlowFacts = {
  storagePolicy: 'required_e2ee',
  signupProviders: [],
  keylessAccountsEnabled: false,
  keylessOAuth: { enabled: false, providers: [], autoProvision: false },
};

const KEYLESS: ExternalFlowFacts = {
  ...NOTHING,
  storagePolicy: 'optional',
  keylessAccountsEnabled: true,
  keylessOAuth: { enabled: true, providers: ['okta'], autoProvision: true },
};

const providers = fc.constantFrom<string[][]>([], ['okta'], ['github'], ['github', 'okta']);

const anyFacts: fc.Arbitrary<ExternalFlowFacts> = fc.record({
  storagePolicy: fc.constantFrom('required_e2ee', 'optional', 'plaintext_only'),
  signupProviders: providers,
  keylessAccountsEnabled: fc.boolean(),
  keylessOAuth: fc.record({ enabled: fc.boolean(), providers, autoProvision: fc.boolean() }),
});

describe(judgeExternalLogin.name, () => {
  it('lets keyed logins begin under every policy: a key with an account may link', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        expect(judgeExternalLogin('keyed', facts, 'okta')).toEqual({ isAllowed: true });
      }),
    );
  });

  it('refuses keyless logins where every account has a device key', () => {
    const facts = { ...KEYLESS, storagePolicy: 'required_e2ee' as const };
    const refused = { isAllowed: false, code: 'e2ee-required' };
    expect(judgeExternalLogin('keyless', facts, 'okta')).toMatchObject(refused);
  });

  it.each<[string, Partial<ExternalFlowFacts>]>([
    ['keyless accounts are off', { keylessAccountsEnabled: false }],
    ['keyless OAuth is off', { keylessOAuth: { ...KEYLESS.keylessOAuth, enabled: false } }],
    ['the provider is not listed', { keylessOAuth: { ...KEYLESS.keylessOAuth, providers: [] } }],
  ])('refuses keyless logins when %s', (_, change) => {
    const refused = { isAllowed: false, code: 'keyless-disabled' };
    expect(judgeExternalLogin('keyless', { ...KEYLESS, ...change }, 'okta')).toMatchObject(refused);
  });

  it('lets keyless logins begin without auto-provision: the account may exist', () => {
    const facts = { ...KEYLESS, keylessOAuth: { ...KEYLESS.keylessOAuth, autoProvision: false } };
    expect(judgeExternalLogin('keyless', facts, 'okta')).toEqual({ isAllowed: true });
  });
});

describe(judgeExternalSignup.name, () => {
  it('refuses providers that may not make accounts, and an empty list means none', () => {
    const refused = { isAllowed: false, code: 'signup-provider-disabled' };
    expect(judgeExternalSignup(NOTHING, 'okta')).toEqual(refused);
    const github = { ...NOTHING, signupProviders: ['github'] };
    expect(judgeExternalSignup(github, 'okta')).toEqual(refused);
    expect(judgeExternalSignup(github, 'github')).toEqual({ isAllowed: true });
  });

  it('refuses device-key accounts where everything is plain', () => {
    const facts = {
      ...KEYLESS,
      storagePolicy: 'plaintext_only' as const,
      signupProviders: ['okta'],
    };
    expect(judgeExternalSignup(facts, 'okta').isAllowed).toBe(false);
  });
});

describe(provisioningModes.name, () => {
  it('offers both where both are on, plain first', () => {
    const facts = { ...KEYLESS, signupProviders: ['okta'] };
    expect(provisioningModes(facts, 'okta')).toEqual(['plain', 'e2ee']);
    expect(provisioningModes(facts, 'github')).toEqual([]);
  });

  it('says what discovery says, under every policy', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const advertised = authMethods({
          storagePolicy: facts.storagePolicy,
          signupProviders: facts.signupProviders,
          keylessAccountsEnabled: facts.keylessAccountsEnabled,
          keylessOAuthEnabled: facts.keylessOAuth.enabled,
          keylessOAuthProviders: facts.keylessOAuth.providers,
          keylessOAuthAutoProvision: facts.keylessOAuth.autoProvision,
          providers: ['okta'],
          keyChallengeEnabled: true,
          keyedAccountsExist: false,
          anonymousSignupEnabled: true,
          mtlsUsable: false,
          mtlsAutoProvision: false,
        }).filter(({ method, action }) => method === 'okta' && action === 'provision');
        const modes = advertised.map(({ mode }) => (mode === 'keyed' ? 'e2ee' : 'plain'));
        expect(new Set(provisioningModes(facts, 'okta'))).toEqual(new Set(modes));
      }),
    );
  });
});
