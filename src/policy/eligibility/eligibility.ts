/** What the last re-check of an identity said. `unknown` is not a no. */
export type EligibilityStatus = 'unknown' | 'eligible' | 'ineligible';

/** The cached eligibility result on an identity record, as clients see it. */
export interface Eligibility {
  readonly status: EligibilityStatus;
  readonly reason: string | null;
  /** Unix milliseconds. */
  readonly checkedAt: number | null;
  readonly nextCheckAt: number | null;
}

/** What a provider says about membership in one organisation. */
export type Membership = 'active' | 'pending' | 'none' | 'unknown';

/** What eligibility is judged on, as the provider reported it. */
export interface EligibilityFacts {
  readonly login: string | null;
  readonly email: string | null;
  /** Whether the address may be believed: the provider verified it, or is trusted to have. */
  readonly emailVerified: boolean;
  /** null = the provider did not report them, or they could not be read: not the same as none. */
  readonly groups: readonly string[] | null;
  /** Only organisations the rules ask about, in lower case; one that is absent was not asked about. */
  readonly memberships: Readonly<Record<string, Membership>>;
}

/** The operator's allow rules for one provider. Every list that is not empty must be met. */
export interface EligibilityRules {
  /** Entries as {@link readUserEntry} reads them. Empty = no restriction. */
  readonly users: readonly string[];
  /** Whether an entry without a prefix and without `@` may be a subject, besides a login. */
  readonly matchSubjects: boolean;
  /** Whole domains of a believed e-mail address. Empty = no restriction. */
  readonly emailDomains: readonly string[];
  /** Groups of which one is needed. Empty = no restriction. */
  readonly groupsAny: readonly string[];
  /** Groups that are all needed. Empty = no restriction. */
  readonly groupsAll: readonly string[];
  /** Organisations, of which one (`any`) or every one (`all`) is needed. Empty = no restriction. */
  readonly orgs: readonly string[];
  readonly orgMatch: 'any' | 'all';
}

export interface EligibilityPerson {
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

/** Unknown is not no: a provider that could not say is not one that said no. */
export type EligibilityVerdict =
  | { readonly status: 'eligible' }
  | { readonly status: 'ineligible'; readonly reason: IneligibleReason }
  | { readonly status: 'unknown'; readonly reason: 'organization_membership_unknown' };

const ELIGIBLE: EligibilityVerdict = { status: 'eligible' };

/**
 * Whether the person is eligible under the rules, compared without case. A definite no of one rule stands
 * whatever another one could not find out; without any rule every identity that the provider knows is eligible.
 */
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
  return named.some((name) => name !== null && includes([value], name));
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
  return domain !== undefined && includes(rules.emailDomains, domain)
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
  const hasOne = groupsAny.length === 0 || groupsAny.some((group) => includes(groups, group));
  const hasAll = groupsAll.every((group) => includes(groups, group));
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

/** What an entry of a list of users names. */
export type UserEntryKind = 'subject' | 'login' | 'email' | 'name';

export interface UserEntry {
  /** `name`: no prefix and no `@`, so it may be a login or a subject. */
  readonly kind: UserEntryKind;
  /** Without the prefix. */
  readonly value: string;
}

const PREFIXES = { 'sub:': 'subject', 'login:': 'login', 'email:': 'email' } as const;

/**
 * Reads an entry of a list of users. `sub:`, `login:` and `email:` say what is meant. Without a
 * prefix, an entry with `@` is an e-mail address and nothing else: a login is text that people may
 * choose, and one person could choose the address of another.
 */
export function readUserEntry(entry: string): UserEntry {
  for (const [prefix, kind] of Object.entries(PREFIXES)) {
    if (entry.toLowerCase().startsWith(prefix)) {
      return { kind, value: entry.slice(prefix.length).trim() };
    }
  }
  return { kind: entry.includes('@') ? 'email' : 'name', value: entry };
}

/** What is wrong with an entry, to follow its place in the configuration; null when nothing is. */
export function userEntryFailure(entry: string): string | null {
  const { kind, value } = readUserEntry(entry);
  if (value === '') {
    return 'has an entry with nothing after its prefix.';
  }
  return kind === 'email' && !value.includes('@')
    ? 'has an entry with email: and no e-mail address after it.'
    : null;
}

const ASCII = /^[\0-\x7f]*$/;

/**
 * The text for a comparison without case. A letter outside ASCII never becomes one inside it: the
 * Kelvin sign lower-cased is a plain k, which would let an attacker register a look-alike of a
 * listed name.
 */
export function foldCase(text: string): string {
  return text.replace(/./gsu, (letter) => {
    const lower = letter.toLowerCase();
    return ASCII.test(lower) && !ASCII.test(letter) ? letter : lower;
  });
}
