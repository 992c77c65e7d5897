import type { EligibilityStatus } from '../eligibility/eligibility.js';
import { judgeIdentity, type OffboardingRules } from '../eligibility/offboarding.js';

/** One linked identity, as far as access is concerned. */
export interface IdentityFacts {
  readonly provider: string;
  readonly status: EligibilityStatus;
  /** When its provider last gave a definite answer, Unix milliseconds; null = never. */
  readonly checkedAt: number | null;
  /** Checks without a definite answer since then. */
  readonly failures: number;
}

/** What the server knows about an account and one of its sessions. */
export interface AccessFacts {
  readonly isDisabled: boolean;
  /** When the session began, Unix milliseconds; null = it has ended. */
  readonly loggedInAt: number | null;
  /** Whether identities are the only login methods: the account has no device key. */
  readonly isKeyless: boolean;
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

export type ProvidersDecision =
  /** `until`: from then on, Unix milliseconds, it has to be judged anew. */
  | { readonly isAllowed: true; readonly until: number }
  | {
      readonly isAllowed: false;
      readonly code: 'provider-required' | 'not-eligible';
      /** null = an account that only identities open, and that has none. */
      readonly provider: string | null;
    };

/**
 * Whether an account may be served for its identities: it has every required provider
 * (specification, Enforcement), and where identities are its only login methods, one of them is eligible.
 *
 * @param required ids of providers; empty = none is required
 */
export function judgeProviders(
  required: readonly string[],
  { isKeyless, identities }: Pick<AccessFacts, 'isKeyless' | 'identities'>,
  rules: OffboardingRules,
  now: number,
): ProvidersDecision {
  const decision = judgeRequired(required, identities, rules, now);
  if (!isKeyless || !decision.isAllowed) {
    return decision;
  }
  const waysIn = judgeWaysIn(identities, rules, now);
  return waysIn.isAllowed
    ? { isAllowed: true, until: Math.min(decision.until, waysIn.until) }
    : waysIn;
}

/** One eligible identity suffices, for as long as the last of them is. */
function judgeWaysIn(
  identities: readonly IdentityFacts[],
  rules: OffboardingRules,
  now: number,
): ProvidersDecision {
  const ends = identities.flatMap((identity) => {
    const decision = judgeIdentity(identity, rules, now);
    return decision.isAllowed ? [decision.until] : [];
  });
  return ends.length > 0
    ? { isAllowed: true, until: Math.max(...ends) }
    : { isAllowed: false, code: 'not-eligible', provider: identities[0]?.provider ?? null };
}

/** The first provider that is missing is named before one that is not eligible. */
function judgeRequired(
  required: readonly string[],
  identities: readonly IdentityFacts[],
  rules: OffboardingRules,
  now: number,
): ProvidersDecision {
  const linked = new Map(identities.map((identity) => [identity.provider, identity]));
  const missing = required.find((provider) => !linked.has(provider));
  if (missing !== undefined) {
    return { isAllowed: false, code: 'provider-required', provider: missing };
  }
  let until = Infinity;
  for (const provider of required) {
    const identity = linked.get(provider);
    const decision = identity && judgeIdentity(identity, rules, now);
    if (decision?.isAllowed !== true) {
      return { isAllowed: false, code: 'not-eligible', provider };
    }
    until = Math.min(until, decision.until);
  }
  return { isAllowed: true, until };
}

/** Live sessions of one account; the one unused longest ends when there is one more (contract, Sessions). */
export const MAX_SESSIONS = 100;
