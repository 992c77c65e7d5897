import type { IdentityFacts } from './access.js';
import { judgeIdentity, type OffboardingRules } from './offboarding.js';

export type ProvidersDecision =
  /** `until`: from then on, Unix milliseconds, it has to be judged anew. */
  | { readonly isAllowed: true; readonly until: number }
  | {
      readonly isAllowed: false;
      readonly code: 'provider-required' | 'not-eligible';
      readonly provider: string;
    };

/**
 * Whether an account has every required provider (specification, Enforcement). The first provider
 * that is missing is named before one that is not eligible. An empty list requires nothing.
 */
export function judgeRequiredProviders(
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
