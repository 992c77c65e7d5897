import type { EligibilityStatus } from './eligibility-status.js';

/** One linked identity, as far as access is concerned. */
export interface IdentityFacts {
  readonly provider: string;
  readonly status: EligibilityStatus;
  /** When its provider last gave a definite answer, Unix milliseconds; null = never. */
  readonly checkedAt: number | null;
}

/** What the server knows about an account and one of its tokens. */
export interface AccessFacts {
  readonly tokenEpoch: number;
  readonly isDisabled: boolean;
  readonly isRevoked: boolean;
  readonly identities: readonly IdentityFacts[];
}

export type TokenDecision =
  | { readonly isAllowed: true }
  | { readonly isAllowed: false; readonly code: 'token-revoked' | 'account-disabled' };

/** Whether a genuine token of `tokenEpoch` is still good. An account that is gone has no tokens. */
export function judgeToken(tokenEpoch: number, facts: AccessFacts | null): TokenDecision {
  if (facts === null || facts.isRevoked || tokenEpoch !== facts.tokenEpoch) {
    return { isAllowed: false, code: 'token-revoked' };
  }
  return facts.isDisabled ? { isAllowed: false, code: 'account-disabled' } : { isAllowed: true };
}
