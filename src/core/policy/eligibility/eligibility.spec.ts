import {
  judgeEligibility,
  type EligibilityFacts,
  type EligibilityRules,
  type Membership,
  userEntryFailure,
} from './eligibility.js';

const NO_RULES: EligibilityRules = {
  users: [],
  matchSubjects: true,
  emailDomains: [],
  groupsAny: [],
  groupsAll: [],
  orgs: [],
  orgMatch: 'any',
};

const ALICE: EligibilityFacts = {
  login: 'Alice',
  email: 'alice@Acme.Example',
  emailVerified: true,
  groups: ['Engineering', 'all-staff'],
  memberships: {},
};

function outcome(rules: Partial<EligibilityRules>, facts: Partial<EligibilityFacts> = {}): string {
  const verdict = judgeEligibility(
    { ...NO_RULES, ...rules },
    { subject: 'sub-1', facts: { ...ALICE, ...facts } },
  );
  return verdict.status === 'eligible' ? 'eligible' : `${verdict.status}: ${verdict.reason}`;
}

describe(judgeEligibility, () => {
  it.each<[Partial<EligibilityRules>, Partial<EligibilityFacts>, string]>([
    [{ emailDomains: ['exämple.com'] }, { email: 'a@xn--exmple-cua.com' }, 'eligible'],
    [{ emailDomains: ['xn--exmple-cua.com'] }, { email: 'a@EXÄMPLE.com' }, 'eligible'],
    [{ users: ['email:a@exämple.com'] }, { email: 'A@xn--exmple-cua.com' }, 'eligible'],
    [
      { emailDomains: ['kelvin.example'] },
      { email: 'a@\u212aelvin.example' },
      'ineligible: email_domain_not_allowed',
    ],
    [{ groupsAny: ['B\u00fcro'] }, { groups: ['Bu\u0308ro'] }, 'eligible'],
    [{ groupsAll: ['Bu\u0308ro'] }, { groups: ['b\u00fcro'] }, 'eligible'],
    [{ groupsAny: ['kelvin'] }, { groups: ['\u212aelvin'] }, 'ineligible: group_missing'],
  ])('judges by %j the letters of %j: %s', (rules, facts, expected) => {
    expect(outcome(rules, facts)).toBe(expected);
  });

  it('allows every person when every list is empty', () => {
    const nothing = { login: null, email: null, emailVerified: false, groups: null };
    expect(outcome({}, nothing)).toBe('eligible');
    expect(outcome({ orgMatch: 'all' }, nothing)).toBe('eligible');
  });

  it.each([
    ['the login, without case', ['aLICE'], true, 'eligible'],
    ['a verified e-mail address', ['alice@acme.example'], true, 'eligible'],
    ['the subject', ['SUB-1'], true, 'eligible'],
    ['the subject where subjects do not count', ['sub-1'], false, 'ineligible: user_not_allowed'],
    ['the second entry', ['bob', 'alice'], true, 'eligible'],
    ['another person', ['bob'], true, 'ineligible: user_not_allowed'],
    ['a part of the login', ['alic'], true, 'ineligible: user_not_allowed'],
  ])('allows users by %s', (_case, users, matchSubjects, expected) => {
    expect(outcome({ users, matchSubjects })).toBe(expected);
  });

  it.each(['alice@acme.example', 'email:alice@acme.example'])(
    'matches %s in the list of users with a verified e-mail address only',
    (entry) => {
      const users = [entry];
      expect(outcome({ users })).toBe('eligible');
      const refused = 'ineligible: user_not_allowed';
      expect(outcome({ users }, { emailVerified: false })).toBe(refused);
      // A person can choose a login and, at some providers, a subject.
      const login = 'alice@acme.example';
      expect(outcome({ users }, { login, email: null })).toBe(refused);
      expect(outcome({ users }, { login, email: login, emailVerified: false })).toBe(refused);
      expect(outcome({ users }, { login, email: 'bob@acme.example' })).toBe(refused);
    },
  );

  it.each([
    ['sub:sub-1', true, 'eligible'],
    ['sub:SUB-1', false, 'eligible'],
    ['sub:alice', true, 'ineligible: user_not_allowed'],
    ['login:alice', true, 'eligible'],
    ['login: alice', true, 'eligible'],
    ['login:sub-1', true, 'ineligible: user_not_allowed'],
    ['login:alice@acme.example', true, 'ineligible: user_not_allowed'],
    ['email:alice', true, 'ineligible: user_not_allowed'],
    ['other:alice', true, 'ineligible: user_not_allowed'],
    ['sub:', true, 'ineligible: user_not_allowed'],
  ])('reads %j by its prefix', (entry, matchSubjects, expected) => {
    expect(outcome({ users: [entry], matchSubjects })).toBe(expected);
  });

  it('matches a login that looks like an e-mail address where login: is given', () => {
    const users = ['login:alice@acme.example'];
    expect(outcome({ users }, { login: 'alice@acme.example', email: null })).toBe('eligible');
  });

  it.each([
    ['alice@acme.example', 'eligible'],
    ['alice@ACME.EXAMPLE', 'eligible'],
    ['alice@evil-acme.example', 'ineligible: email_domain_not_allowed'],
    ['alice@sub.acme.example', 'ineligible: email_domain_not_allowed'],
    ['alice@acme.example.evil.test', 'ineligible: email_domain_not_allowed'],
    ['alice@acme.example.', 'ineligible: email_domain_not_allowed'],
    ['alice@evil.test@acme.example', 'ineligible: email_domain_not_allowed'],
    ['"alice@acme.example"@evil.test', 'ineligible: email_domain_not_allowed'],
    ['alice@evil.test\n@acme.example', 'ineligible: email_domain_not_allowed'],
    ['alice@evil.test @acme.example', 'ineligible: email_domain_not_allowed'],
    ['alice@acme.example @evil.test', 'ineligible: email_domain_not_allowed'],
    ['@acme.example', 'ineligible: email_domain_not_allowed'],
    ['acme.example', 'ineligible: email_domain_not_allowed'],
    ['', 'ineligible: email_domain_not_allowed'],
  ])('compares the whole domain of %j', (email, expected) => {
    expect(outcome({ emailDomains: ['acme.example'] }, { email })).toBe(expected);
  });

  it('refuses a letter that becomes the listed domain only in lower case', () => {
    const email = 'alice@\u212Aiosk.example';
    expect(outcome({ emailDomains: ['kiosk.example'] }, { email })).toBe(
      'ineligible: email_domain_not_allowed',
    );
  });

  it('requires a verified domain, and reports it', () => {
    const emailDomains = ['acme.example'];
    expect(outcome({ emailDomains }, { emailVerified: false })).toBe(
      'ineligible: email_unverified',
    );
    expect(outcome({ emailDomains }, { email: null, emailVerified: false })).toBe(
      'ineligible: email_domain_not_allowed',
    );
  });

  it.each<[string, Partial<EligibilityRules>, readonly string[] | null, string]>([
    ['one of several', { groupsAny: ['ops', 'ENGINEERING'] }, ALICE.groups, 'eligible'],
    ['none of several', { groupsAny: ['ops'] }, ALICE.groups, 'ineligible: group_missing'],
    ['all', { groupsAll: ['engineering', 'all-staff'] }, ALICE.groups, 'eligible'],
    ['not all', { groupsAll: ['engineering', 'ops'] }, ALICE.groups, 'ineligible: group_missing'],
    [
      'one and all',
      { groupsAny: ['engineering'], groupsAll: ['ops'] },
      ALICE.groups,
      'ineligible: group_missing',
    ],
    ['no groups', { groupsAny: ['engineering'] }, [], 'ineligible: group_missing'],
    ['hidden groups', { groupsAny: ['engineering'] }, null, 'ineligible: groups_unavailable'],
    ['hidden groups that no rule names', {}, null, 'eligible'],
  ])('judges groups: %s', (_case, rules, groups, expected) => {
    expect(outcome(rules, { groups })).toBe(expected);
  });

  const missing = 'ineligible: organization_membership_missing';
  const pending = 'ineligible: organization_membership_pending';
  const unknown = 'unknown: organization_membership_unknown';
  it.each<[Membership, Membership, string, string]>([
    ['active', 'active', 'eligible', 'eligible'],
    ['active', 'none', 'eligible', missing],
    ['active', 'pending', 'eligible', pending],
    ['active', 'unknown', 'eligible', unknown],
    ['none', 'none', missing, missing],
    ['none', 'pending', pending, pending],
    ['none', 'unknown', unknown, missing],
    ['pending', 'pending', pending, pending],
    ['pending', 'unknown', unknown, pending],
    ['unknown', 'unknown', unknown, unknown],
  ])('judges organisations: %s and %s', (one, two, any, all) => {
    const memberships = { acme: one, other: two };
    const orgs = ['Acme', 'other'];
    expect(outcome({ orgs, orgMatch: 'any' }, { memberships })).toBe(any);
    expect(outcome({ orgs, orgMatch: 'all' }, { memberships })).toBe(all);
  });

  it('treats an organisation that was not queried as unknown, regardless of its name', () => {
    expect(outcome({ orgs: ['acme'] })).toBe(unknown);
    expect(outcome({ orgs: ['constructor'] })).toBe(unknown);
  });

  it('refuses by a definite refusal of one rule next to an unknown one', () => {
    expect(outcome({ orgs: ['acme'], users: ['bob'] })).toBe('ineligible: user_not_allowed');
    expect(outcome({ orgs: ['acme'], users: ['alice'] })).toBe(unknown);
  });
});

describe(userEntryFailure.name, () => {
  it.each(['alice', 'alice@acme.example', 'email:alice@acme.example', 'login:alice', 'sub: 1'])(
    'finds no problem in %j',
    (entry) => {
      expect(userEntryFailure(entry)).toBeNull();
    },
  );

  it.each(['sub:', 'login: ', 'EMAIL:'])('refuses %j, which names no person', (entry) => {
    expect(userEntryFailure(entry)).toBe('has an entry with nothing after its prefix.');
  });

  it('refuses an e-mail address without @', () => {
    expect(userEntryFailure('email:alice')).toBe(
      'has an entry with email: and no e-mail address after it.',
    );
  });
});
