import type { AuthMode } from './auth-methods.js';
import type { StoragePolicy, AccountMode } from '../operator-policy.js';

/** The operator's decisions about accounts without device keys. */
export interface KeylessRules {
  readonly storagePolicy: StoragePolicy;
  readonly accountsEnabled: boolean;
  /** Login to them through a provider. */
  readonly oauth: {
    readonly enabled: boolean;
    /** Empty = none. */
    readonly providers: readonly string[];
    /** Whether the first login creates the account. */
    readonly autoProvision: boolean;
  };
}

export interface KeylessRefusal {
  readonly isAllowed: false;
  readonly code: 'e2ee-required' | 'keyless-disabled' | 'signup-provider-disabled';
  /** Which of the operator's switches says no. */
  readonly switch: 'storage-policy' | 'accounts' | 'oauth' | 'provider' | 'auto-provision';
}

export type KeylessDecision = { readonly isAllowed: true } | KeylessRefusal;

const ALLOWED = { isAllowed: true } as const;

/** Whether this server has keyless accounts at all (specification, Keyless and encryption variables). */
export function judgeKeylessAccounts(rules: KeylessRules): KeylessDecision {
  if (rules.storagePolicy === 'required_e2ee') {
    return refuse('e2ee-required', 'storage-policy');
  }
  return rules.accountsEnabled ? ALLOWED : refuse('keyless-disabled', 'accounts');
}

/** Whether the provider may log in to keyless accounts. An empty list allows none. */
export function judgeKeylessOAuth(rules: KeylessRules, provider: string): KeylessDecision {
  const accounts = judgeKeylessAccounts(rules);
  if (!accounts.isAllowed) {
    return accounts;
  }
  if (!rules.oauth.enabled) {
    return refuse('keyless-disabled', 'oauth');
  }
  return rules.oauth.providers.includes(provider)
    ? ALLOWED
    : refuse('keyless-disabled', 'provider');
}

/**
 * Whether one of these identities still opens a keyless account. Where none does, the account
 * is not reachable: it has no device key.
 *
 * @param certificatesEnabled whether `mtls` identities log in
 */
export function canReachKeylessAccount(
  rules: KeylessRules,
  certificatesEnabled: boolean,
  providers: readonly string[],
): boolean {
  return providers.some((provider) =>
    provider === 'mtls' ? certificatesEnabled : judgeKeylessOAuth(rules, provider).isAllowed,
  );
}

/** Whether the first login may create a keyless account. */
export function judgeKeylessSignup(autoProvision: boolean): KeylessDecision {
  return autoProvision ? ALLOWED : refuse('signup-provider-disabled', 'auto-provision');
}

export type ProviderLoginDecision = { readonly isAllowed: true } | Omit<KeylessRefusal, 'switch'>;

/**
 * Whether a login through the provider may begin, and go on when it comes back. Keyed ones always
 * may: a key that has an account gets the identity linked, whatever the sign-up policy says.
 */
export function judgeProviderLogin(
  mode: AuthMode,
  keyless: KeylessRules,
  provider: string,
): ProviderLoginDecision {
  return mode === 'keyed' ? ALLOWED : judgeKeylessOAuth(keyless, provider);
}

/**
 * Whether the provider may create an account for a key that has none (specification, Policy
 * variables).
 *
 * @param signupProviders providers that may create keyed accounts. Empty = none
 */
export function judgeProviderSignup(
  keyless: KeylessRules,
  signupProviders: readonly string[],
  provider: string,
): ProviderLoginDecision {
  return provisioningModes(keyless, signupProviders, provider).includes('e2ee')
    ? ALLOWED
    : { isAllowed: false, code: 'signup-provider-disabled' };
}

/**
 * The kinds of account that a first login may create: without device keys (`plain`), with (`e2ee`).
 * Empty = this provider only links identities to accounts that exist.
 */
export function provisioningModes(
  keyless: KeylessRules,
  signupProviders: readonly string[],
  provider: string,
): AccountMode[] {
  const isPlainOffered =
    judgeKeylessOAuth(keyless, provider).isAllowed && keyless.oauth.autoProvision;
  const isE2eeOffered =
    keyless.storagePolicy !== 'plaintext_only' && signupProviders.includes(provider);
  return [
    ...(isPlainOffered ? ['plain' as const] : []),
    ...(isE2eeOffered ? ['e2ee' as const] : []),
  ];
}

function refuse(code: KeylessRefusal['code'], by: KeylessRefusal['switch']): KeylessRefusal {
  return { isAllowed: false, code, switch: by };
}
