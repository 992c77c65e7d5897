import type { EligibilityRecord, OffboardingRules } from '../eligibility/offboarding.js';
import { judgeSignalledIdentity, type SignalledIdentity } from '../eligibility/signals.js';

export type IdentityFacts = SignalledIdentity & EligibilityRecord;

export interface AccessFacts {
  readonly isDisabled: boolean;
  /** Start of the session, Unix milliseconds; null = it has ended. */
  readonly loggedInAt: number | null;
  /** True if identities are the only login methods: the account has no device key. */
  readonly isKeyless: boolean;
  readonly identities: readonly IdentityFacts[];
}

type SessionDecision =
  | { readonly isAllowed: true; readonly loggedInAt: number }
  | { readonly isAllowed: false; readonly code: 'token-revoked' | 'account-disabled' };

/**
 * A disabled account is refused as such even if its sessions have ended: no login would help.
 * @param facts null when the account is deleted
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
 * Protects actions against a stolen token (contract, Sessions). A login in the future is not fresh beyond the limit: a
 * clock that was ahead would otherwise keep it fresh until that time.
 * @param maxAgeMs 0 = any session is fresh
 */
export function isFreshLogin(loggedInAt: number, maxAgeMs: number, now: number): boolean {
  return maxAgeMs === 0 || Math.abs(now - loggedInAt) < maxAgeMs;
}

export type ProvidersDecision =
  /** `until` is the time in Unix milliseconds at which access has to be judged again. */
  | { readonly isAllowed: true; readonly until: number }
  | {
      readonly isAllowed: false;
      readonly code: 'provider-required' | 'not-eligible';
      /** null = an account that only identities open, and that has none. */
      readonly provider: string | null;
      /** True if no provider refused: its last answer is too old. */
      readonly isOutdated?: true;
    };

/**
 * Judges if an account has every required provider (specification, Enforcement) and, where
 * identities are its only login methods, an eligible one. Empty `required` = none is required.
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

/**
 * Returns the identities with which an account without a device key can sign in. Where none can, all count: those of a
 * provider that the configuration no longer has count until the sessions end.
 */
export function openingIdentities<Identity extends { readonly provider: string }>(
  identities: readonly Identity[],
  { keylessLogins }: Pick<OffboardingRules, 'keylessLogins'>,
): readonly Identity[] {
  const opening = identities.filter(({ provider }) => keylessLogins?.includes(provider) ?? true);
  return opening.length > 0 ? opening : identities;
}

/** One eligible identity suffices. A refusal names the provider whose login would help. */
function judgeWaysIn(
  linked: readonly IdentityFacts[],
  rules: OffboardingRules,
  now: number,
): ProvidersDecision {
  const identities = openingIdentities(linked, rules);
  const judged = identities.map((identity) => ({
    provider: identity.provider,
    decision: judgeSignalledIdentity(identity, rules, now),
  }));
  const ends = judged.flatMap(({ decision }) => (decision.isAllowed ? [decision.until] : []));
  if (ends.length > 0) {
    return { isAllowed: true, until: Math.max(...ends) };
  }
  const lapsed = judged.find(
    ({ decision }) => !decision.isAllowed && decision.code === 'provider-required',
  );
  if (lapsed !== undefined) {
    return { isAllowed: false, code: 'provider-required', provider: lapsed.provider };
  }
  const isOutdated = judged.some(
    ({ decision }) => !decision.isAllowed && decision.isOutdated === true,
  );
  const provider = identities[0]?.provider ?? null;
  const refusal = { isAllowed: false, code: 'not-eligible', provider } as const;
  return isOutdated ? { ...refusal, isOutdated } : refusal;
}

/** A missing provider is reported before one that is not eligible. */
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
    const decision = identity && judgeSignalledIdentity(identity, rules, now);
    if (decision?.isAllowed !== true) {
      return { isAllowed: false, code: 'not-eligible', ...decision, provider };
    }
    until = Math.min(until, decision.until);
  }
  return { isAllowed: true, until };
}

/** Beyond this limit the least recently used session of the account ends (contract, Sessions). */
export const MAX_SESSIONS = 100;
