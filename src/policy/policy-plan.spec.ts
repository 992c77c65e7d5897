import type { EligibilityRules } from './eligibility.js';
import { judgeStay, predictStay, type KnownIdentity, type StayingPolicy } from './policy-plan.js';

const NOW = 1_800_000_000_000;
const rules = (given: Partial<EligibilityRules>): EligibilityRules => ({
  users: [],
  matchSubjects: true,
  emailDomains: [],
  groupsAny: [],
  groupsAll: [],
  orgs: [],
  orgMatch: 'any',
  ...given,
});
const policy = (given: Partial<EligibilityRules>, strict = false): StayingPolicy => ({
  requiredLoginProviders: ['okta'],
  offboarding: { enabled: true, intervalSeconds: 3600, strict },
  rules: new Map([['okta', rules(given)]]),
});
const identity = (given: Partial<KnownIdentity> = {}): KnownIdentity => ({
  provider: 'okta',
  subject: 's',
  status: 'eligible',
  reason: null,
  checkedAt: NOW,
  facts: { login: 'jo', email: null, emailVerified: false, groups: ['staff'], memberships: {} },
  ...given,
});
const staff = policy({ groupsAny: ['staff'] });

describe(judgeStay, () => {
  it.each([
    [[], 'refused'],
    [[identity()], 'allowed'],
    [[identity({ status: 'ineligible' })], 'refused'],
    [[identity({ provider: 'github' })], 'refused'],
  ] as const)('of %j is %s', (identities, stay) => {
    expect(judgeStay(staff, identities, NOW)).toBe(stay);
  });
});

describe(predictStay, () => {
  const cases: [string, StayingPolicy, KnownIdentity, string][] = [
    ['the same policy', staff, identity(), 'allowed'],
    ['another group', policy({ groupsAny: ['directors'] }), identity(), 'refused'],
    ['an organisation never asked about', policy({ orgs: ['acme'] }), identity(), 'unknown'],
    [
      'nothing that the provider said',
      policy({ orgs: ['x'] }),
      identity({ facts: null }),
      'allowed',
    ],
    ['strict, and an old answer', policy({}, true), identity({ checkedAt: 0 }), 'refused'],
  ];
  it.each(cases)('with %s', (_what, changed, one, stay) => {
    expect(predictStay(staff, changed, [one], NOW)).toBe(stay);
  });

  it('lets in whom only the old rules refused', () => {
    const refused = identity({ status: 'ineligible', reason: 'group_missing' });
    const present = policy({ groupsAny: ['directors'] });
    expect(predictStay(present, staff, [refused], NOW)).toBe('allowed');
  });

  it('does not overrule a no of the provider itself', () => {
    const gone = identity({ status: 'ineligible', reason: 'invalid_grant' });
    expect(predictStay(staff, policy({}), [gone], NOW)).toBe('refused');
  });
});
