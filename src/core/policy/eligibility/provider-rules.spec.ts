import { GITHUB, okta } from '../../../../test/fixtures/policy-fixture.js';
import {
  believesEmail,
  capabilitiesOf,
  hasAllowRules,
  isRestricted,
  requiresDirectory,
} from './provider-rules.js';

const NO_ALLOW = { usersAllowlist: [], emailDomains: [], groupsAny: [], groupsAll: [] };

describe(capabilitiesOf.name, () => {
  it('describes GitHub', () => {
    const github = {
      ...GITHUB,
      allowedUsers: ['ada'],
      allowedOrgs: ['acme'],
      orgMatch: 'all',
    } as const;
    const { believesEmail: believes, ...capabilities } = capabilitiesOf(github);
    expect(capabilities).toEqual({
      rules: {
        ...{ users: ['ada'], matchSubjects: false, orgs: ['acme'], orgMatch: 'all' },
        ...{ emailDomains: [], groupsAny: [], groupsAll: [] },
      },
      hasMembershipRules: true,
      hasRulesFile: false,
      isRecheckable: true,
      storesRefreshToken: false,
      asksForRefreshTokens: true,
      asksForGroups: true,
      findsRemovals: true,
      chosenLogin: null,
      reports: 'organizations',
    });
    expect([believes(true), believes(false)]).toEqual([false, false]);
  });

  it('describes a provider of OpenID Connect', () => {
    const allow = {
      ...{ usersAllowlist: ['ada'], emailDomains: ['acme.example'] },
      ...{ groupsAny: ['staff'], groupsAll: ['eu'] },
    };
    const { believesEmail: believes, ...capabilities } = capabilitiesOf(okta({ allow }));
    expect(capabilities).toEqual({
      rules: {
        ...{ users: ['ada'], matchSubjects: true, orgs: [], orgMatch: 'any' },
        ...{ emailDomains: ['acme.example'], groupsAny: ['staff'], groupsAll: ['eu'] },
      },
      hasMembershipRules: true,
      hasRulesFile: true,
      isRecheckable: true,
      storesRefreshToken: true,
      asksForRefreshTokens: true,
      asksForGroups: true,
      findsRemovals: true,
      chosenLogin: 'preferred_username',
      reports: 'email and groups',
    });
    expect([believes(true), believes(false)]).toEqual([true, false]);
  });

  it('reports no membership rules where no list restricts', () => {
    expect(capabilitiesOf(GITHUB).hasMembershipRules).toBe(false);
    expect(capabilitiesOf(okta()).hasMembershipRules).toBe(false);
  });

  it.each([
    [true, null, true],
    [false, null, false],
    [false, {}, true],
    [true, {}, true],
  ])(
    'can re-check with a refresh token (%s) or a directory (%j): %s',
    (storeRefreshToken, googleWorkspaceGroups, isRecheckable) => {
      const provider = okta({ storeRefreshToken, googleWorkspaceGroups });
      expect(capabilitiesOf(provider).isRecheckable).toBe(isRecheckable);
    },
  );

  it.each([
    ['stores none', { storeRefreshToken: false, scopes: ['openid'] }, true],
    ['asks a directory', { googleWorkspaceGroups: {}, scopes: ['openid'] }, true],
    ['has the scope for one', { scopes: ['openid', 'offline_access'] }, true],
    ['stores one and lacks the scope', { scopes: ['openid'] }, false],
  ])('asks for refresh tokens as Core 1.0 says where it %s', (_what, change, expected) => {
    expect(capabilitiesOf(okta(change)).asksForRefreshTokens).toBe(expected);
  });

  it.each([
    ['openid offline_access', false],
    ['openid User.Read', true],
    ['openid https://graph.microsoft.us/GroupMember.Read.All', true],
    ['openid https://graph.microsoft.com/.default', true],
  ])('asks for the groups of Microsoft Graph with the scopes %j: %s', (scopes, expected) => {
    const change = { entra: { graph: true }, scopes: scopes.split(' ') };
    const allow = { groupsAny: ['staff'] };
    expect(capabilitiesOf(okta({ ...change, allow })).asksForGroups).toBe(expected);
    expect(capabilitiesOf(okta(change)).asksForGroups).toBe(true);
  });

  it('treats a login that is the subject as one that no person chose', () => {
    const claims = { login: 'sub', email: 'email', groups: 'groups' };
    expect(capabilitiesOf(okta({ claims })).chosenLogin).toBeNull();
  });
});

describe(isRestricted.name, () => {
  it.each([
    ['GitHub without lists', GITHUB, false],
    ['GitHub with a list of users', { ...GITHUB, allowedUsers: ['ada'] }, true],
    ['GitHub with a list of organisations', { ...GITHUB, allowedOrgs: ['acme'] }, true],
    ['a provider without allow rules', okta(), false],
    ['a provider with an allow rule', okta({ allow: { groupsAll: ['staff'] } }), true],
  ])('judges %s', (_what, provider, expected) => {
    expect(isRestricted(provider)).toBe(expected);
  });
});

describe(requiresDirectory.name, () => {
  it.each([
    ['GitHub', GITHUB, false],
    ['a provider without a directory', okta(), false],
    ['an optional directory', okta({ scim: { match: 'email', required: false } }), false],
    ['a required directory', okta({ scim: { match: 'email', required: true } }), true],
  ])('judges %s', (_what, provider, expected) => {
    expect(requiresDirectory(provider)).toBe(expected);
  });
});

describe(hasAllowRules.name, () => {
  it.each(['usersAllowlist', 'emailDomains', 'groupsAny', 'groupsAll'])(
    'notices a rule in %s alone',
    (name) => {
      expect(hasAllowRules({ ...NO_ALLOW, [name]: ['x'] })).toBe(true);
      expect(hasAllowRules(NO_ALLOW)).toBe(false);
    },
  );
});

describe(believesEmail.name, () => {
  it.each([
    ['required', 'email', true, true],
    ['required', 'email', false, false],
    // `email_verified` says nothing about another claim.
    ['required', 'upn', true, false],
    ['trustedIssuer', 'upn', false, true],
    ['trustedIssuer', 'email', false, true],
  ] as const)(
    'believes an address, with %s, of the claim %s, verified %s: %s',
    (rule, email, verified, expected) => {
      const claims = { login: 'sub', email, groups: 'groups' };
      expect(believesEmail({ claims, emailVerification: rule }, verified)).toBe(expected);
    },
  );
});
