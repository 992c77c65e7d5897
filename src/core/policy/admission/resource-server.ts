import type { OffboardingRules } from '../eligibility/offboarding.js';
import type { ProgramRules } from '../programs/programs.js';
import { judgeProviders, type AccessFacts, type ProvidersDecision } from './access.js';

/** The rules of one backend, in addition to those of the server. */
export interface ResourceServerRules {
  readonly id: string;
  /** Ids of providers. Empty = none beyond those of the server. */
  readonly requireProviders: readonly string[];
  readonly allowKeyless: boolean;
}

/** A backend as people and operators see it. */
export interface ResourceServer extends ResourceServerRules {
  readonly name: string;
  /** Its address, which is the audience of its tokens. */
  readonly resource: string;
  /** Absent or null = no program gets a token for it. */
  readonly programs?: ProgramRules | null;
}

export type ResourceDecision =
  | ProvidersDecision
  | { readonly isAllowed: false; readonly code: 'keyless-disabled'; readonly provider: null };

/** Applies the rules of the server first, then its own. @param required by the server itself */
export function judgeResource(
  { requireProviders, allowKeyless }: ResourceServerRules,
  required: readonly string[],
  account: Pick<AccessFacts, 'isKeyless' | 'identities'>,
  offboarding: OffboardingRules,
  now: number,
): ResourceDecision {
  const all = [...new Set([...required, ...requireProviders])];
  const decision = judgeProviders(all, account, offboarding, now);
  return decision.isAllowed && account.isKeyless && !allowKeyless
    ? { isAllowed: false, code: 'keyless-disabled', provider: null }
    : decision;
}
