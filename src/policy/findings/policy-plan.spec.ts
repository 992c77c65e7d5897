import type { EligibilityRules } from '../eligibility/eligibility.js';
import {
  judgeAccess,
  predictAccess,
  type KnownIdentity,
  type OffboardingPolicy,
} from './policy-plan.js';

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
const policy = (given: Partial<EligibilityRules>, strict = false): OffboardingPolicy => ({
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
  failures: 0,
  facts: { login: 'jo', email: null, emailVerified: false, groups: ['staff'], memberships: {} },
  ...given,
});
const staff = policy({ groupsAny: ['staff'] });
const keyed = (...identities: KnownIdentity[]) => ({ isKeyless: false, identities });
const keyless = (...identities: KnownIdentity[]) => ({ isKeyless: true, identities });

describe(judgeAccess, () => {
  it.each([
    [[], 'refused'],
    [[identity()], 'allowed'],
    [[identity({ status: 'ineligible' })], 'refused'],
    [[identity({ provider: 'github' })], 'refused'],
  ] as const)('of %j is %s', (identities, stay) => {
    expect(judgeAccess(staff, keyed(...identities), NOW)).toBe(stay);
  });

  it.each([
    [[], 'refused'],
    [[identity()], 'allowed'],
    [[identity({ status: 'ineligible' })], 'refused'],
    [[identity({ status: 'ineligible' }), identity({ provider: 'github' })], 'allowed'],
  ] as const)('of %j is %s where nothing is required and no key opens it', (identities, stay) => {
    const free = { ...staff, requiredLoginProviders: [] };
    expect(judgeAccess(free, keyless(...identities), NOW)).toBe(stay);
    expect(judgeAccess(free, keyed(...identities), NOW)).toBe('allowed');
  });
});

describe(predictAccess, () => {
  const cases: [string, OffboardingPolicy, KnownIdentity, string][] = [
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
    expect(predictAccess(staff, changed, keyed(one), NOW)).toBe(stay);
    const free = { ...changed, requiredLoginProviders: [] };
    expect(predictAccess(staff, free, keyless(one), NOW)).toBe(stay);
  });

  it('allows an account that only the old rules refused', () => {
    const refused = identity({ status: 'ineligible', reason: 'group_missing' });
    const present = policy({ groupsAny: ['directors'] });
    expect(predictAccess(present, staff, keyed(refused), NOW)).toBe('allowed');
  });

  it('does not overrule a no of the provider itself', () => {
    const gone = identity({ status: 'ineligible', reason: 'invalid_grant' });
    expect(predictAccess(staff, policy({}), keyed(gone), NOW)).toBe('refused');
  });
});
