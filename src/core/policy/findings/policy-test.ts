import { foldCase } from '../eligibility/comparable-names.js';
import { judgeProviders, type ProvidersDecision } from '../admission/access.js';
import { admissionTable, judgeAdmission, type AuthMode } from '../admission/admission.js';
import {
  judgeEligibility,
  type EligibilityFacts,
  type EligibilityVerdict,
  type Membership,
} from '../eligibility/eligibility.js';
import { capabilitiesOf, type ProviderRules } from '../eligibility/provider-rules.js';
import type { OperatorPolicy } from '../operator-policy.js';

/** Facts about a person, as the operator writes them. */
export interface TestedPerson extends Omit<EligibilityFacts, 'memberships'> {
  readonly subject: string;
  /** The claim `email_verified`, independent of the provider's rules. */
  readonly emailVerified: boolean;
  /** An absent organisation does not have this member. */
  readonly organizations: Readonly<Record<string, Membership>>;
  /** The mode of the account whose access is judged. */
  readonly accountMode: AuthMode;
  /** Other linked providers at which the account is eligible. */
  readonly linked: readonly string[];
}

export interface PersonOutcome {
  readonly eligibility: EligibilityVerdict['status'];
  readonly reason: string | null;
  /** True if an account with this identity is served. */
  readonly access: 'allowed' | Exclude<ProvidersDecision, { isAllowed: true }>['code'];
  /** Modes of account that a first login may create. Empty = none. */
  readonly creates: readonly AuthMode[];
}

export function outcomeFor(
  policy: OperatorPolicy,
  provider: ProviderRules,
  person: TestedPerson,
  now: number,
): PersonOutcome {
  const { id } = provider;
  const { auth } = policy;
  const facts = factsOf(provider, person);
  const verdict = judgeEligibility(capabilitiesOf(provider).rules, { ...person, facts });
  const eligible = person.linked.map((one) => ({ provider: one, status: 'eligible' as const }));
  const identities = [{ provider: id, status: verdict.status }, ...eligible];
  const account = {
    isKeyless: person.accountMode === 'keyless',
    identities: identities.map((identity) => ({
      ...identity,
      reason: null,
      checkedAt: now,
      failures: 0,
    })),
  };
  const access = judgeProviders(auth.requiredLoginProviders, account, auth.offboarding, now);
  const table = admissionTable(policy);
  const modes = (['keyed', 'keyless'] as const).filter(
    (mode) => judgeAdmission(table, id, 'provision', mode).isAllowed,
  );
  return {
    eligibility: verdict.status,
    reason: verdict.status === 'eligible' ? null : verdict.reason,
    access: access.isAllowed ? 'allowed' : access.code,
    creates: verdict.status === 'eligible' ? modes : [],
  };
}

function factsOf(provider: ProviderRules, person: TestedPerson): EligibilityFacts {
  const { login, email, groups } = person;
  const { rules, reports, believesEmail } = capabilitiesOf(provider);
  if (reports === 'email and groups') {
    const emailVerified = believesEmail(person.emailVerified);
    return { login, email, emailVerified, groups, memberships: {} };
  }
  const given = Object.entries(person.organizations).map(
    ([org, membership]) => [foldCase(org), membership] as const,
  );
  const withoutMembership = rules.orgs.map((org) => [foldCase(org), 'none'] as const);
  const memberships = Object.fromEntries<Membership>([...withoutMembership, ...given]);
  return { login, email: null, emailVerified: false, groups: null, memberships };
}
