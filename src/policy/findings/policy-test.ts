import { judgeProviders, type ProvidersDecision } from '../admission/access.js';
import { admissionTable, judgeAdmission, type AuthMode } from '../admission/admission.js';
import {
  foldCase,
  judgeEligibility,
  type EligibilityFacts,
  type EligibilityVerdict,
  type Membership,
} from '../eligibility/eligibility.js';
import {
  believesEmail,
  eligibilityRulesOf,
  type ProviderRules,
} from '../eligibility/provider-rules.js';
import type { OperatorPolicy } from '../operator-policy.js';

/** What a provider says about a person, as the operator writes it down. */
export interface TestedPerson extends Omit<EligibilityFacts, 'memberships'> {
  readonly subject: string;
  /** The claim `email_verified`, whatever the provider's rules make of it. */
  readonly emailVerified: boolean;
  /** An organisation that is absent has no such member. */
  readonly organizations: Readonly<Record<string, Membership>>;
  /** Of the account whose access is judged. */
  readonly accountMode: AuthMode;
  /** Other providers that the account is connected to, and eligible at. */
  readonly linked: readonly string[];
}

/** What a policy does with a person. */
export interface PersonOutcome {
  readonly eligibility: EligibilityVerdict['status'];
  readonly reason: string | null;
  /** Whether an account with this identity is served. */
  readonly access: 'allowed' | Exclude<ProvidersDecision, { isAllowed: true }>['code'];
  /** Modes of the account that a first login may create. Empty = it creates none. */
  readonly creates: readonly AuthMode[];
}

/** What the policy does with a person of a provider who was checked just now. */
export function outcomeFor(
  policy: OperatorPolicy,
  provider: ProviderRules,
  person: TestedPerson,
  now: number,
): PersonOutcome {
  const { id } = provider;
  const { auth } = policy;
  const facts = factsOf(provider, person);
  const verdict = judgeEligibility(eligibilityRulesOf(provider), { ...person, facts });
  const eligible = person.linked.map((one) => ({ provider: one, status: 'eligible' as const }));
  const identities = [{ provider: id, status: verdict.status }, ...eligible];
  const account = {
    isKeyless: person.accountMode === 'keyless',
    identities: identities.map((identity) => ({ ...identity, checkedAt: now, failures: 0 })),
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

/** The facts as the provider's own code would report them. */
function factsOf(provider: ProviderRules, person: TestedPerson): EligibilityFacts {
  const { login } = person;
  if (provider.type === 'github') {
    const given = Object.entries(person.organizations).map(
      ([org, membership]) => [foldCase(org), membership] as const,
    );
    const asked = provider.allowedOrgs.map((org) => [foldCase(org), 'none'] as const);
    const memberships = Object.fromEntries<Membership>([...asked, ...given]);
    return { login, email: null, emailVerified: false, groups: null, memberships };
  }
  const { email, groups } = person;
  const emailVerified = believesEmail(provider, person.emailVerified);
  return { login, email, emailVerified, groups, memberships: {} };
}
