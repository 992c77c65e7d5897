import type { EligibilityStatus } from './eligibility-status.js';

/** One linked identity, as far as access is concerned. */
export interface IdentityFacts {
  readonly provider: string;
  readonly status: EligibilityStatus;
  /** When its provider last gave a definite answer, Unix milliseconds; null = never. */
  readonly checkedAt: number | null;
}

/** What the server knows about an account and one of its sessions. */
export interface AccessFacts {
  readonly isDisabled: boolean;
  /** When the session began, Unix milliseconds; null = it has ended. */
  readonly loggedInAt: number | null;
  readonly identities: readonly IdentityFacts[];
}

export type SessionDecision =
  | { readonly isAllowed: true; readonly loggedInAt: number }
  | { readonly isAllowed: false; readonly code: 'token-revoked' | 'account-disabled' };

/**
 * Whether a session goes on. That the account is disabled is said even when its sessions have ended:
 * another login would not help.
 *
 * @param facts null when the account is gone
 */
export function judgeSession(facts: AccessFacts | null): SessionDecision {
  if (facts?.isDisabled === true) {
    return { isAllowed: false, code: 'account-disabled' };
  }
  if (facts === null || facts.loggedInAt === null) {
    return { isAllowed: false, code: 'token-revoked' };
  }
  return { isAllowed: true, loggedInAt: facts.loggedInAt };
}

/**
 * Whether a session logged in recently enough for what must not be done with a stolen token
 * (contract, Sessions).
 *
 * @param maxAgeMs 0 = any session does
 */
export function isFreshLogin(loggedInAt: number, maxAgeMs: number, now: number): boolean {
  return maxAgeMs === 0 || now - loggedInAt < maxAgeMs;
}
