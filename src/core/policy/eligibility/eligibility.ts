import { addressInAscii, composed, foldCase, isDomainOf } from './comparable-names.js';

/** The result of the last re-check of an identity. `unknown` is not a refusal. */
export type EligibilityStatus = 'unknown' | 'eligible' | 'ineligible';

export interface Eligibility {
  readonly status: EligibilityStatus;
  readonly reason: string | null;
  /** Unix milliseconds. */
  readonly checkedAt: number | null;
  readonly nextCheckAt: number | null;
}

export type Membership = 'active' | 'pending' | 'none' | 'unknown';

export interface EligibilityFacts {
  readonly login: string | null;
  readonly email: string | null;
  /** True if the address may be believed: the provider verified it, or is trusted to have. */
  readonly emailVerified: boolean;
  /** null = not reported or unreadable, which differs from none. */
  readonly groups: readonly string[] | null;
  /** Only organisations of the rules, in lower case; an absent one was not requested. */
  readonly memberships: Readonly<Record<string, Membership>>;
  /** Object id in Microsoft Entra ID; absent where no directory is matched by it. */
  readonly oid?: string;
}

/** The operator's allow rules for one provider. Every non-empty list must match. */
export interface EligibilityRules {
  /** Entries of {@link readUserEntry}. Empty = no restriction. */
  readonly users: readonly string[];
  /** True if an entry without a prefix and without `@` may also match a subject. */
  readonly matchSubjects: boolean;
  /** Whole domains of a believed e-mail address. Empty = no restriction. */
  readonly emailDomains: readonly string[];
  readonly groupsAny: readonly string[];
  readonly groupsAll: readonly string[];
  /** Organisations of which one (`any`) or every one (`all`) is needed. Empty = no restriction. */
  readonly orgs: readonly string[];
  readonly orgMatch: 'any' | 'all';
}

interface EligibilityPerson {
  readonly subject: string;
  readonly facts: EligibilityFacts;
}

export type IneligibleReason =
  | 'user_not_allowed'
  | 'email_unverified'
  | 'email_domain_not_allowed'
  | 'groups_unavailable'
  | 'group_missing'
  | 'organization_membership_pending'
  | 'organization_membership_missing';

/** Unknown is not a refusal: the provider could not answer. */
export type EligibilityVerdict =
  | { readonly status: 'eligible' }
  | { readonly status: 'ineligible'; readonly reason: IneligibleReason }
  | { readonly status: 'unknown'; readonly reason: 'organization_membership_unknown' };

const ELIGIBLE: EligibilityVerdict = { status: 'eligible' };

/** A definite refusal of one rule is final if another rule is undecided. Case does not count. */
export function judgeEligibility(
  rules: EligibilityRules,
  person: EligibilityPerson,
): EligibilityVerdict {
  const verdicts = [
    judgeUser(rules, person),
    judgeEmailDomain(rules, person.facts),
    judgeGroups(rules, person.facts),
    judgeOrganizations(rules, person.facts),
  ];
  return (
    verdicts.find(({ status }) => status === 'ineligible') ??
    verdicts.find(({ status }) => status === 'unknown') ??
    ELIGIBLE
  );
}

function judgeUser(rules: EligibilityRules, person: EligibilityPerson): EligibilityVerdict {
  const isListed = rules.users.some((entry) => isMeantBy(entry, person, rules.matchSubjects));
  return rules.users.length === 0 || isListed ? ELIGIBLE : ineligible('user_not_allowed');
}

function isMeantBy(
  entry: string,
  { subject, facts }: EligibilityPerson,
  matchSubjects: boolean,
): boolean {
  const { kind, value } = readUserEntry(entry);
  const named = {
    subject: [subject],
    login: [facts.login],
    email: [facts.emailVerified ? facts.email : null],
    name: [facts.login, matchSubjects ? subject : null],
  }[kind];
  const isNamed = (name: string): boolean =>
    kind === 'email'
      ? includes([addressInAscii(value)], addressInAscii(name))
      : includes([value], name);
  return named.some((name) => name !== null && isNamed(name));
}

function judgeEmailDomain(rules: EligibilityRules, facts: EligibilityFacts): EligibilityVerdict {
  if (rules.emailDomains.length === 0) {
    return ELIGIBLE;
  }
  if (facts.email !== null && !facts.emailVerified) {
    return ineligible('email_unverified');
  }
  // Exactly one @ and nothing loose around it: "a@evil.example@acme.example" has no domain.
  const domain = /^[^@\s]+@([^@\s]+)$/.exec(facts.email ?? '')?.[1];
  return domain !== undefined && isDomainOf(rules.emailDomains, domain)
    ? ELIGIBLE
    : ineligible('email_domain_not_allowed');
}

function judgeGroups(rules: EligibilityRules, { groups }: EligibilityFacts): EligibilityVerdict {
  const { groupsAny, groupsAll } = rules;
  if (groupsAny.length === 0 && groupsAll.length === 0) {
    return ELIGIBLE;
  }
  if (groups === null) {
    return ineligible('groups_unavailable');
  }
  const names = groups.map(composed);
  const isIn = (group: string): boolean => includes(names, composed(group));
  const hasOne = groupsAny.length === 0 || groupsAny.some(isIn);
  const hasAll = groupsAll.every(isIn);
  return hasOne && hasAll ? ELIGIBLE : ineligible('group_missing');
}

function judgeOrganizations(rules: EligibilityRules, facts: EligibilityFacts): EligibilityVerdict {
  const found = rules.orgs.map((org) => membershipIn(facts, org));
  const isMet = (membership: Membership) => membership === 'active';
  if (rules.orgMatch === 'all' ? found.every(isMet) : found.length === 0 || found.some(isMet)) {
    return ELIGIBLE;
  }
  const isRefused = (membership: Membership) => membership === 'none' || membership === 'pending';
  if (rules.orgMatch === 'all' ? !found.some(isRefused) : found.includes('unknown')) {
    return { status: 'unknown', reason: 'organization_membership_unknown' };
  }
  return ineligible(
    found.includes('pending')
      ? 'organization_membership_pending'
      : 'organization_membership_missing',
  );
}

function membershipIn({ memberships }: EligibilityFacts, org: string): Membership {
  const name = foldCase(org);
  return Object.hasOwn(memberships, name) ? (memberships[name] ?? 'unknown') : 'unknown';
}

function includes(list: readonly string[], name: string): boolean {
  const folded = foldCase(name);
  return list.some((item) => foldCase(item) === folded);
}

function ineligible(reason: IneligibleReason): EligibilityVerdict {
  return { status: 'ineligible', reason };
}

export type UserEntryKind = 'subject' | 'login' | 'email' | 'name';

interface UserEntry {
  /** `name`: no prefix and no `@`, so it may be a login or a subject. */
  readonly kind: UserEntryKind;
  readonly value: string;
}

const PREFIXES = { 'sub:': 'subject', 'login:': 'login', 'email:': 'email' } as const;

/** `@` without a prefix is only an e-mail address: people could choose one as their login. */
export function readUserEntry(entry: string): UserEntry {
  for (const [prefix, kind] of Object.entries(PREFIXES)) {
    if (entry.toLowerCase().startsWith(prefix)) {
      return { kind, value: entry.slice(prefix.length).trim() };
    }
  }
  return { kind: entry.includes('@') ? 'email' : 'name', value: entry };
}

/** The problem of an entry, or null. */
export function userEntryFailure(entry: string): string | null {
  const { kind, value } = readUserEntry(entry);
  if (value === '') {
    return 'has an entry with nothing after its prefix.';
  }
  return kind === 'email' && !value.includes('@')
    ? 'has an entry with email: and no e-mail address after it.'
    : null;
}
