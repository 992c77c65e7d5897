import type { AuthMode } from './auth-methods.js';
import { judgeKeylessOAuth, type KeylessOAuthFacts } from './keyless.js';
import type { AccountMode } from './storage-policy.js';

/** What the operator decided about logins through a provider. */
export interface ExternalFlowFacts extends KeylessOAuthFacts {
  /** Providers that may make keyed accounts. Empty = none. */
  readonly signupProviders: readonly string[];
  readonly keylessOAuth: KeylessOAuthFacts['keylessOAuth'] & { readonly autoProvision: boolean };
}

export type ExternalFlowDecision =
  | { readonly isAllowed: true }
  | {
      readonly isAllowed: false;
      readonly code: 'signup-provider-disabled' | 'keyless-disabled' | 'e2ee-required';
    };

const ALLOWED: ExternalFlowDecision = { isAllowed: true };

/**
 * Whether a login through the provider may begin, and go on when it comes back. Keyed ones always
 * may: a key that has an account gets the identity linked, whatever the sign-up policy says.
 */
export function judgeExternalLogin(
  mode: AuthMode,
  facts: ExternalFlowFacts,
  provider: string,
): ExternalFlowDecision {
  return mode === 'keyed' ? ALLOWED : judgeKeylessOAuth(facts, provider);
}

/** Whether the provider may make an account for a key that has none (specification, Policy variables). */
export function judgeExternalSignup(
  facts: ExternalFlowFacts,
  provider: string,
): ExternalFlowDecision {
  return provisioningModes(facts, provider).includes('e2ee')
    ? ALLOWED
    : { isAllowed: false, code: 'signup-provider-disabled' };
}

/**
 * What kinds of account somebody new may have: without device keys (`plain`), with them (`e2ee`).
 * Empty = this provider only links identities to accounts that exist.
 */
export function provisioningModes(facts: ExternalFlowFacts, provider: string): AccountMode[] {
  const isPlainOffered =
    judgeKeylessOAuth(facts, provider).isAllowed && facts.keylessOAuth.autoProvision;
  const isE2eeOffered =
    facts.storagePolicy !== 'plaintext_only' && facts.signupProviders.includes(provider);
  return [
    ...(isPlainOffered ? ['plain' as const] : []),
    ...(isE2eeOffered ? ['e2ee' as const] : []),
  ];
}
