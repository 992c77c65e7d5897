import type { EligibilityStatus } from './eligibility-status.js';
import { judgeEligibility, type EligibilityFacts, type EligibilityRules } from './eligibility.js';
import { judgeIdentity, type OffboardingRules } from './offboarding.js';

/** A linked identity with what its provider said last. */
export interface KnownIdentity {
  readonly provider: string;
  readonly subject: string;
  readonly status: EligibilityStatus;
  readonly reason: string | null;
  readonly checkedAt: number | null;
  /** null = the provider has not told yet. */
  readonly facts: EligibilityFacts | null;
}

/** The part of a configuration that decides who may stay. */
export interface StayingPolicy {
  readonly requiredLoginProviders: readonly string[];
  readonly offboarding: OffboardingRules;
  /** Of each configured provider. */
  readonly rules: ReadonlyMap<string, EligibilityRules>;
}

/** Whether an account stays; `unknown` where only the provider can tell. */
export type Stay = 'allowed' | 'refused' | 'unknown';

/** Whether an account may stay under the policy as it is, by what is stored. */
export function judgeStay(
  policy: StayingPolicy,
  identities: readonly KnownIdentity[],
  now: number,
): Stay {
  return combine(policy, identities, (identity) =>
    judgeIdentity(identity, policy.offboarding, now).isAllowed ? 'allowed' : 'refused',
  );
}

/**
 * Whether an account would stay under a changed policy, judged on what its providers said last. A
 * no that the present rules do not explain came from the provider itself, and stays a no.
 */
export function predictStay(
  present: StayingPolicy,
  changed: StayingPolicy,
  identities: readonly KnownIdentity[],
  now: number,
): Stay {
  return combine(changed, identities, (identity) => {
    const before = judge(present, identity);
    const after = judge(changed, identity);
    if (after === null || (identity.status === 'ineligible' && before !== 'ineligible')) {
      return judgeIdentity(identity, changed.offboarding, now).isAllowed ? 'allowed' : 'refused';
    }
    if (after !== 'eligible') {
      return after === 'ineligible' ? 'refused' : 'unknown';
    }
    const fresh = { ...identity, status: 'eligible' } as const;
    return judgeIdentity(fresh, changed.offboarding, now).isAllowed ? 'allowed' : 'refused';
  });
}

/** null = there is nothing to judge by: no rules for this provider, or nothing that it said. */
function judge(policy: StayingPolicy, { provider, subject, facts }: KnownIdentity) {
  const rules = policy.rules.get(provider);
  return rules === undefined || facts === null
    ? null
    : judgeEligibility(rules, { subject, facts }).status;
}

function combine(
  { requiredLoginProviders }: StayingPolicy,
  identities: readonly KnownIdentity[],
  judgeOne: (identity: KnownIdentity) => Stay,
): Stay {
  const stays = requiredLoginProviders.map((provider): Stay => {
    const identity = identities.find((one) => one.provider === provider);
    return identity === undefined ? 'refused' : judgeOne(identity);
  });
  if (stays.includes('refused')) {
    return 'refused';
  }
  return stays.includes('unknown') ? 'unknown' : 'allowed';
}
