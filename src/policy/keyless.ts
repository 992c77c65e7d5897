import type { StoragePolicy } from './storage-policy.js';

/** What the operator decided about accounts without device keys. */
export interface KeylessFacts {
  readonly storagePolicy: StoragePolicy;
  readonly keylessAccountsEnabled: boolean;
}

/** What the operator decided about logging in to them through a provider. */
export interface KeylessOAuthFacts extends KeylessFacts {
  readonly keylessOAuth: {
    readonly enabled: boolean;
    /** Empty = none. */
    readonly providers: readonly string[];
  };
}

export interface KeylessRefusal {
  readonly isAllowed: false;
  readonly code: 'e2ee-required' | 'keyless-disabled' | 'signup-provider-disabled';
  /** Which of the operator's switches says no. */
  readonly switch: 'storage-policy' | 'accounts' | 'oauth' | 'provider' | 'auto-provision';
}

export type KeylessDecision = { readonly isAllowed: true } | KeylessRefusal;

const ALLOWED: KeylessDecision = { isAllowed: true };

/** Whether this server has keyless accounts at all (specification, Keyless and encryption variables). */
export function judgeKeylessAccounts(facts: KeylessFacts): KeylessDecision {
  if (facts.storagePolicy === 'required_e2ee') {
    return refuse('e2ee-required', 'storage-policy');
  }
  return facts.keylessAccountsEnabled ? ALLOWED : refuse('keyless-disabled', 'accounts');
}

/** Whether the provider may log in to keyless accounts. An empty list allows none. */
export function judgeKeylessOAuth(facts: KeylessOAuthFacts, provider: string): KeylessDecision {
  const accounts = judgeKeylessAccounts(facts);
  if (!accounts.isAllowed) {
    return accounts;
  }
  if (!facts.keylessOAuth.enabled) {
    return refuse('keyless-disabled', 'oauth');
  }
  return facts.keylessOAuth.providers.includes(provider)
    ? ALLOWED
    : refuse('keyless-disabled', 'provider');
}

/**
 * Whether one of these identities still opens a keyless account. Where none does there is no way
 * in: it has no device key.
 *
 * @param certificatesEnabled whether `mtls` identities log in
 */
export function hasKeylessWayIn(
  facts: KeylessOAuthFacts,
  certificatesEnabled: boolean,
  providers: readonly string[],
): boolean {
  return providers.some((provider) =>
    provider === 'mtls' ? certificatesEnabled : judgeKeylessOAuth(facts, provider).isAllowed,
  );
}

/** Whether somebody new may have a keyless account made at the first login. */
export function judgeKeylessSignup(autoProvision: boolean): KeylessDecision {
  return autoProvision ? ALLOWED : refuse('signup-provider-disabled', 'auto-provision');
}

function refuse(code: KeylessRefusal['code'], by: KeylessRefusal['switch']): KeylessRefusal {
  return { isAllowed: false, code, switch: by };
}
