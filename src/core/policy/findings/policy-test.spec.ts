import {
  GITHUB,
  okta,
  policyWith,
  type PolicyChange,
} from '../../../../test/fixtures/policy-fixture.js';
import type { ProviderRules } from '../eligibility/provider-rules.js';
import { outcomeFor, type PersonOutcome, type TestedPerson } from './policy-test.js';

const NOW = 1_800_000_000_000;
const PERSON: TestedPerson = {
  subject: '1',
  login: 'ada',
  email: 'ada@acme.example',
  emailVerified: true,
  groups: ['staff'],
  organizations: {},
  accountMode: 'keyed',
  linked: [],
};
const STAFF = okta({ allow: { groupsAny: ['staff'] } });
const ACME = { ...GITHUB, allowedOrgs: ['Acme'] };
const REQUIRED: PolicyChange = {
  auth: {
    anonymousSignupEnabled: false,
    signupProviders: ['okta'],
    requiredLoginProviders: ['okta'],
  },
};
const KEYLESS: PolicyChange = {
  encryption: { storagePolicy: 'optional' },
  keyless: {
    accountsEnabled: true,
    oauth: { enabled: true, providers: ['okta'], autoProvision: true },
  },
};

const outcome = (
  provider: ProviderRules,
  person: Partial<TestedPerson>,
  ...changes: PolicyChange[]
): PersonOutcome => {
  const policy = policyWith({ providers: [provider] }, ...changes);
  return outcomeFor(policy, provider, { ...PERSON, ...person }, NOW);
};

describe(outcomeFor, () => {
  it('combines the rules, the required providers and the table of methods', () => {
    expect(outcome(STAFF, {}, REQUIRED)).toEqual({
      ...{ eligibility: 'eligible', reason: null, access: 'allowed', creates: ['keyed'] },
    });
    expect(outcome(STAFF, { groups: [] }, REQUIRED)).toEqual({
      ...{ eligibility: 'ineligible', reason: 'group_missing' },
      ...{ access: 'not-eligible', creates: [] },
    });
  });

  it.each<[string, PolicyChange[], readonly string[]]>([
    ['no sign-up through it', [], []],
    ['keyed sign-up', [REQUIRED], ['keyed']],
    ['both modes', [REQUIRED, KEYLESS], ['keyed', 'keyless']],
    [
      'keyless accounts alone',
      [REQUIRED, KEYLESS, { encryption: { storagePolicy: 'plaintext_only' } }],
      ['keyless'],
    ],
  ])('creates an account at a first login: %s', (_name, changes, creates) => {
    expect(outcome(STAFF, {}, ...changes).creates).toEqual(creates);
  });

  it('serves a keyless account only while one of its identities is eligible', () => {
    const access = (person: Partial<TestedPerson>) => outcome(STAFF, person).access;
    expect(access({ groups: [] })).toBe('allowed');
    expect(access({ groups: [], accountMode: 'keyless' })).toBe('not-eligible');
    expect(access({ groups: [], accountMode: 'keyless', linked: ['github'] })).toBe('allowed');
    expect(access({ accountMode: 'keyless' })).toBe('allowed');
  });

  it('requires the other required providers, which the person may have linked', () => {
    const both: PolicyChange = { auth: { requiredLoginProviders: ['okta', 'github'] } };
    expect(outcome(STAFF, {}, both).access).toBe('provider-required');
    expect(outcome(STAFF, { linked: ['github'] }, both).access).toBe('allowed');
  });

  it.each([
    ['required', 'email', true, null],
    ['required', 'email', false, 'email_unverified'],
    ['required', 'upn', true, 'email_unverified'],
    ['trustedIssuer', 'upn', false, null],
  ] as const)('accepts an address by %s, claim %s, verified %s', (by, email, verified, reason) => {
    const provider = okta({
      allow: { emailDomains: ['acme.example'] },
      claims: { login: 'preferred_username', email, groups: 'groups' },
      emailVerification: by,
    });
    expect(outcome(provider, { emailVerified: verified }).reason).toBe(reason);
  });

  it.each<[TestedPerson['organizations'], string | null]>([
    [{ acme: 'active' }, null],
    [{ ACME: 'active' }, null],
    [{ acme: 'pending' }, 'organization_membership_pending'],
    [{ other: 'active' }, 'organization_membership_missing'],
    [{}, 'organization_membership_missing'],
  ])('treats the memberships %j at GitHub as complete', (organizations, reason) => {
    expect(outcome(ACME, { organizations }).reason).toBe(reason);
  });

  it('reads no e-mail address and no groups from GitHub', () => {
    const byEmail = { ...GITHUB, allowedUsers: ['ada@acme.example'] };
    expect(outcome(byEmail, {}).reason).toBe('user_not_allowed');
  });
});
