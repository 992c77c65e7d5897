import type { CertificateRecord } from '../certificate/certificate-record.js';
import { COMMON_NAME, type CertificateRules } from '../certificate/client-certificate.js';
import type { EligibilityRules } from '../eligibility/eligibility.js';
import {
  okta,
  policyWith,
  relay,
  type PolicyChange,
} from '../../../../test/fixtures/policy-fixture.js';
import { PlanTally } from './plan-tally.js';
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
  ] as const)('judges %j as %s', (identities, stay) => {
    expect(judgeAccess(staff, keyed(...identities), NOW)).toBe(stay);
  });

  it.each([
    [[], 'refused'],
    [[identity()], 'allowed'],
    [[identity({ status: 'ineligible' })], 'refused'],
    [[identity({ status: 'ineligible' }), identity({ provider: 'github' })], 'allowed'],
  ] as const)(
    'judges %j as %s where nothing is required and the account has no key',
    (identities, stay) => {
      const free = { ...staff, requiredLoginProviders: [] };
      expect(judgeAccess(free, keyless(...identities), NOW)).toBe(stay);
      expect(judgeAccess(free, keyed(...identities), NOW)).toBe('allowed');
    },
  );

  it('judges an account without a key by the identities with which it can sign in', () => {
    const offboarding = { ...staff.offboarding, keylessLogins: ['okta'] };
    const free = { ...staff, offboarding, requiredLoginProviders: [] };
    const connected = identity({ provider: 'github' });
    const left = identity({ status: 'ineligible' });
    expect(judgeAccess(free, keyless(left, connected), NOW)).toBe('refused');
    expect(judgeAccess(free, keyless(identity(), connected), NOW)).toBe('allowed');
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
  it.each(cases)('predicts the access with %s', (_what, changed, one, stay) => {
    expect(predictAccess(staff, changed, keyed(one), NOW)).toBe(stay);
    const free = { ...changed, requiredLoginProviders: [] };
    expect(predictAccess(staff, free, keyless(one), NOW)).toBe(stay);
  });

  it('allows an account that only the old rules refused', () => {
    const refused = identity({ status: 'ineligible', reason: 'group_missing' });
    const present = policy({ groupsAny: ['directors'] });
    expect(predictAccess(present, staff, keyed(refused), NOW)).toBe('allowed');
  });

  it('keeps a refusal of the provider itself', () => {
    const gone = identity({ status: 'ineligible', reason: 'invalid_grant' });
    expect(predictAccess(staff, policy({}), keyed(gone), NOW)).toBe('refused');
  });
});

describe(PlanTally, () => {
  const linked = { id: 'a', keyMode: 'keyed', disabledAt: null, identities: [identity()] } as const;
  const bare = { ...linked, id: 'b', identities: [] };
  const keylessOne = { ...linked, id: 'c', keyMode: 'keyless' } as const;
  const disabled = { ...linked, id: 'd', disabledAt: NOW };

  function tallied(present: PolicyChange, changed: PolicyChange) {
    const configured = { providers: [okta()] };
    const tally = new PlanTally(
      policyWith(configured, present),
      policyWith(configured, changed),
      NOW,
    );
    [linked, bare, keylessOne, disabled].forEach((account) => tally.add(account));
    return tally.counts;
  }

  it('counts who loses the tokens of a backend whose rules become stricter', () => {
    const resourceServers = [relay({ requireProviders: ['okta'], allowKeyless: false })];
    expect(tallied({ resourceServers: [relay()] }, { resourceServers })).toMatchObject({
      ...{ accounts: 4, lose: 0, gain: 0 },
      resourceServers: [{ id: 'relay', lose: 2, gain: 0, unknown: 0 }],
    });
    expect(tallied({ resourceServers }, { resourceServers: [relay()] })).toMatchObject({
      resourceServers: [{ id: 'relay', lose: 0, gain: 2, unknown: 0 }],
    });
  });

  it('counts backends that are added and removed', () => {
    const files = relay({ id: 'files' });
    const counts = tallied({ resourceServers: [relay()] }, { resourceServers: [files] });
    expect(counts.resourceServers).toEqual([
      { id: 'relay', lose: 3, gain: 0, unknown: 0 },
      { id: 'files', lose: 0, gain: 3, unknown: 0 },
    ]);
  });

  it('adds the rules of the server to those of each backend', () => {
    const resourceServers = [relay()];
    const auth = { requiredLoginProviders: ['okta'] };
    expect(tallied({ resourceServers }, { resourceServers, auth })).toMatchObject({
      ...{ lose: 1, losing: ['b'] },
      resourceServers: [{ id: 'relay', lose: 1, gain: 0 }],
    });
  });
});

describe('the prediction for certificates', () => {
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
  const seen = (given: Partial<KnownIdentity> = {}): KnownIdentity =>
    identity({
      ...{ provider: 'mtls', subject: 'san_email:jo@corp.example', facts: null },
      certificate: RECORD,
      ...given,
    });
  const OPEN = certificates({});
  const CASES: [what: string, changed: OffboardingPolicy, one: KnownIdentity, stay: string][] = [
    ['the same rules', OPEN, seen(), 'allowed'],
    ['its issuer', certificates({ allowedIssuers: ['Corp CA'] }), seen(), 'allowed'],
    ['another issuer', certificates({ allowedIssuers: ['Other CA'] }), seen(), 'refused'],
    ['another domain', certificates({ allowedEmailDomains: ['new.example'] }), seen(), 'refused'],
    ['another part of it', certificates({ identitySource: 'san_upn' }), seen(), 'refused'],
    [
      'a domain, where no certificate is stored',
      certificates({ allowedEmailDomains: ['new.example'] }),
      seen({ certificate: null }),
      'refused',
    ],
    [
      'an issuer, where no certificate is stored: the last answer stands',
      certificates({ allowedIssuers: ['Other CA'] }),
      seen({ certificate: null }),
      'allowed',
    ],
    [
      'certificates off: the last answer stands',
      { ...OPEN, certificates: null },
      seen(),
      'allowed',
    ],
    ['strict, and an old answer', certificates({}, true), seen({ checkedAt: 0 }), 'refused'],
  ];

  it.each(CASES)('predicts with %s', (_what, changed, one, stay) => {
    expect(predictAccess(OPEN, changed, keyed(one), NOW)).toBe(stay);
    const free = { ...changed, requiredLoginProviders: [] };
    expect(predictAccess(OPEN, free, keyless(one), NOW)).toBe(stay);
  });

  it('refuses an expired certificate', () => {
    expect(predictAccess(OPEN, OPEN, keyed(seen()), NOW + 1001)).toBe('refused');
  });

  it('allows a certificate that only the old rules refused, and never a revoked one', () => {
    const present = certificates({ allowedIssuers: ['Other CA'] });
    const byRules = seen({ status: 'ineligible', reason: 'issuer_not_allowed' });
    expect(predictAccess(present, OPEN, keyed(byRules), NOW)).toBe('allowed');
    const revoked = seen({ status: 'ineligible', reason: 'revoked' });
    expect(predictAccess(OPEN, OPEN, keyed(revoked), NOW)).toBe('refused');
  });
});
