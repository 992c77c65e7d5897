import {
  hasKeylessWayIn,
  judgeKeylessAccounts,
  judgeKeylessOAuth,
  judgeKeylessSignup,
  type KeylessOAuthFacts,
} from './keyless.js';

const OPEN: KeylessOAuthFacts = {
  storagePolicy: 'optional',
  keylessAccountsEnabled: true,
  keylessOAuth: { enabled: true, providers: ['okta'] },
};

const ALLOWED = { isAllowed: true };

describe('judgeKeylessOAuth', () => {
  it.each(['optional', 'plaintext_only'] as const)('allows a listed provider on %s', (policy) => {
    expect(judgeKeylessOAuth({ ...OPEN, storagePolicy: policy }, 'okta')).toEqual(ALLOWED);
  });

  it.each<[string, Partial<KeylessOAuthFacts>, string, string]>([
    [
      'encryption is required',
      { storagePolicy: 'required_e2ee' },
      'e2ee-required',
      'storage-policy',
    ],
    ['keyless accounts are off', { keylessAccountsEnabled: false }, 'keyless-disabled', 'accounts'],
    [
      'keyless OAuth is off',
      { keylessOAuth: { enabled: false, providers: ['okta'] } },
      'keyless-disabled',
      'oauth',
    ],
    [
      'another provider is listed',
      { keylessOAuth: { enabled: true, providers: ['acme'] } },
      'keyless-disabled',
      'provider',
    ],
    [
      'no provider is listed',
      { keylessOAuth: { enabled: true, providers: [] } },
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
    const facts = { ...OPEN, keylessOAuth: { enabled: false, providers: [] } };
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

describe('hasKeylessWayIn', () => {
  it.each<[string, readonly string[], boolean, boolean]>([
    ['nothing is left', [], true, false],
    ['a listed provider is left', ['okta'], false, true],
    ['a provider is left that is not listed', ['acme'], true, false],
    ['a certificate is left, and certificates log in', ['mtls'], true, true],
    ['a certificate is left, and certificates are off', ['mtls'], false, false],
  ])('when %s', (_name, providers, certificatesEnabled, expected) => {
    expect(hasKeylessWayIn(OPEN, certificatesEnabled, providers)).toBe(expected);
  });
});
