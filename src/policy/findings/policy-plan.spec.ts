import type { CertificateRecord } from '../certificate/certificate-record.js';
import { COMMON_NAME, type CertificateRules } from '../certificate/client-certificate.js';
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
  certificates: null,
});
const identity = (given: Partial<KnownIdentity> = {}): KnownIdentity => ({
  provider: 'okta',
  subject: 's',
  status: 'eligible',
  reason: null,
  checkedAt: NOW,
  failures: 0,
  facts: { login: 'jo', email: null, emailVerified: false, groups: ['staff'], memberships: {} },
  certificate: null,
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

describe('of certificates', () => {
  const RECORD: CertificateRecord = {
    facts: {
      emails: ['jo@corp.example'],
      upns: ['jo@ad.example'],
      commonNames: ['Jo'],
      fingerprint: null,
      issuer: [[{ type: COMMON_NAME, value: 'Corp CA' }]],
      validity: { notBefore: NOW - 1000, notAfter: NOW + 1000 },
      usages: null,
    },
    reference: null,
  };
  const certificates = (given: Partial<CertificateRules>, strict = false): OffboardingPolicy => ({
    ...policy({}, strict),
    requiredLoginProviders: ['mtls'],
    certificates: {
      ...{ identitySource: 'san_email', allowedEmailDomains: [], allowedIssuers: [] },
      ...given,
    },
  });
  const shown = (given: Partial<KnownIdentity> = {}): KnownIdentity =>
    identity({
      ...{ provider: 'mtls', subject: 'san_email:jo@corp.example', facts: null },
      certificate: RECORD,
      ...given,
    });
  const OPEN = certificates({});
  const CASES: [what: string, changed: OffboardingPolicy, one: KnownIdentity, stay: string][] = [
    ['the same rules', OPEN, shown(), 'allowed'],
    ['its issuer', certificates({ allowedIssuers: ['Corp CA'] }), shown(), 'allowed'],
    ['another issuer', certificates({ allowedIssuers: ['Other CA'] }), shown(), 'refused'],
    ['another domain', certificates({ allowedEmailDomains: ['new.example'] }), shown(), 'refused'],
    ['another part of it', certificates({ identitySource: 'san_upn' }), shown(), 'refused'],
    [
      'a domain, where no certificate is stored',
      certificates({ allowedEmailDomains: ['new.example'] }),
      shown({ certificate: null }),
      'refused',
    ],
    [
      'an issuer, where no certificate is stored: the last answer stands',
      certificates({ allowedIssuers: ['Other CA'] }),
      shown({ certificate: null }),
      'allowed',
    ],
    [
      'certificates off: the last answer stands',
      { ...OPEN, certificates: null },
      shown(),
      'allowed',
    ],
    ['strict, and an old answer', certificates({}, true), shown({ checkedAt: 0 }), 'refused'],
  ];

  it.each(CASES)('predicts with %s', (_what, changed, one, stay) => {
    expect(predictAccess(OPEN, changed, keyed(one), NOW)).toBe(stay);
    const free = { ...changed, requiredLoginProviders: [] };
    expect(predictAccess(OPEN, free, keyless(one), NOW)).toBe(stay);
  });

  it('refuses one that has expired', () => {
    expect(predictAccess(OPEN, OPEN, keyed(shown()), NOW + 1001)).toBe('refused');
  });

  it('allows what only the old rules refused, and never what was revoked', () => {
    const present = certificates({ allowedIssuers: ['Other CA'] });
    const byRules = shown({ status: 'ineligible', reason: 'issuer_not_allowed' });
    expect(predictAccess(present, OPEN, keyed(byRules), NOW)).toBe('allowed');
    const revoked = shown({ status: 'ineligible', reason: 'revoked' });
    expect(predictAccess(OPEN, OPEN, keyed(revoked), NOW)).toBe('refused');
  });
});
