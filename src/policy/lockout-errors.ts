import { keyedPossible, keylessPossible, keylessProviders, mtlsPossible } from './access-facts.js';
import { notConfigured, when, type LockoutRule } from './lockout-rule.js';

/** Rules by which somebody is locked out, or something that was switched on does nothing. */
export const LOCKOUT_ERRORS: readonly LockoutRule[] = [
  {
    code: 'required-provider-not-configured',
    find: (facts) =>
      notConfigured(facts, facts.requiredLoginProviders).map(
        (id) =>
          `AUTH_REQUIRED_LOGIN_PROVIDERS names ${id}, which is not configured: every account is refused until it is.`,
      ),
  },
  {
    code: 'required-mtls-unavailable',
    find: (facts) =>
      when(
        facts.requiredLoginProviders.includes('mtls') && !mtlsPossible(facts),
        'AUTH_REQUIRED_LOGIN_PROVIDERS names mtls, but no certificate can log in: every account is refused.',
      ),
  },
  {
    code: 'nobody-can-log-in',
    find: (facts) =>
      when(
        !keyedPossible(facts) && !mtlsPossible(facts) && keylessProviders(facts).length === 0,
        'No way to log in is left: device keys, keyless providers and certificates are all off or incomplete.',
      ),
  },
  {
    code: 'keyless-provider-not-configured',
    find: (facts) =>
      notConfigured(facts, facts.keylessOauth.enabled ? facts.keylessOauth.providers : []).map(
        (id) =>
          `SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS names ${id}, which is not configured: nobody can log in through it.`,
      ),
  },
  {
    code: 'keyless-accounts-need-plaintext',
    find: (facts) =>
      when(
        facts.keylessAccountsEnabled && facts.storagePolicy === 'required_e2ee',
        'Keyless accounts are on, but SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY is required_e2ee: they stay off. Use optional or plaintext_only.',
      ),
  },
  {
    code: 'keyless-login-without-accounts',
    find: (facts) =>
      when(
        facts.keylessOauth.enabled && !facts.keylessAccountsEnabled,
        'Keyless OAuth login is on, but SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED is off: nobody can log in that way.',
      ),
  },
  {
    code: 'plaintext-only-without-keyless',
    find: (facts) =>
      when(
        facts.storagePolicy === 'plaintext_only' && !facts.keylessAccountsEnabled,
        'The storage policy is plaintext_only and keyless accounts are off: only keyed accounts can log in, and what they encrypt is refused.',
      ),
  },
  {
    code: 'mtls-without-keyless',
    find: (facts) =>
      when(
        facts.mtls.enabled && !keylessPossible(facts),
        'Login with certificates is on, but it needs keyless accounts and a storage policy other than required_e2ee.',
      ),
  },
  {
    code: 'mtls-unreachable',
    find: (facts) =>
      when(
        facts.mtls.enabled && !facts.mtls.reachable,
        'Forwarded certificates are on, but nobody is trusted to forward them: set SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS and SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES.',
      ),
  },
  {
    code: 'signup-provider-not-configured',
    find: (facts) =>
      notConfigured(facts, facts.signupProviders).map(
        (id) =>
          `AUTH_SIGNUP_PROVIDERS names ${id}, which is not configured: nobody can sign up through it.`,
      ),
  },
  {
    code: 'trusts-every-peer',
    find: (facts) =>
      when(
        facts.everyPeerTrusted,
        'A list of trusted proxies holds every address: anyone who reaches the server directly can forge what a proxy says.',
      ),
  },
];
