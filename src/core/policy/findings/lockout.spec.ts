import {
  okta,
  policyWith,
  relay,
  type PolicyChange,
} from '../../../../test/fixtures/policy-fixture.js';
import { findLockouts } from './lockout.js';

const RESTRICTED = okta({ allow: { groupsAny: ['staff'] } });

/** A public server that follows the specification's advice, its provider connected. */
const ENFORCED: PolicyChange = {
  http: { publicUrl: 'https://gate.example.com' },
  auth: {
    anonymousSignupEnabled: false,
    signupProviders: ['okta'],
    requiredLoginProviders: ['okta'],
    offboarding: { enabled: true, intervalSeconds: 86_400, strict: false },
  },
  providers: [RESTRICTED],
};

const KEYLESS: PolicyChange = {
  ...ENFORCED,
  auth: { ...ENFORCED.auth, signupProviders: [] },
  encryption: { storagePolicy: 'plaintext_only' },
  keyless: {
    accountsEnabled: true,
    oauth: { enabled: true, providers: ['okta'], autoProvision: true },
  },
};

const OPTIONAL: PolicyChange = { encryption: { storagePolicy: 'optional' } };

const USERS = ['sub:00u1', 'email:bob@acme.example', 'carol@acme.example', 'login:dave'];

/** A provider with a list of users, and rules for domains of e-mail addresses. */
const listing = (
  usersAllowlist: readonly string[],
  {
    emailDomains = ['acme.example'],
    ...claims
  }: { emailDomains?: string[]; login?: string; email?: string } = {},
) =>
  okta({
    allow: { usersAllowlist, emailDomains },
    claims: { login: 'preferred_username', email: 'email', groups: 'groups', ...claims },
  });

const MTLS: PolicyChange['mtls'] = { enabled: true, mode: 'direct', autoProvision: true };

const PROGRAMS = {
  scopes: { read: { text: 'Read', requires: [] } },
  initial: ['read'],
  clients: 'known' as const,
  tokenSeconds: 900,
  maxGrantSeconds: 3600,
};
const KEYED_BACKEND = {
  id: 'relay',
  name: 'Relay',
  resource: 'https://relay.example.com',
  requireProviders: [],
  allowKeyless: false,
};

function found(...changes: readonly PolicyChange[]): string[] {
  return findLockouts(policyWith(...changes)).map(({ severity, code }) => `${severity} ${code}`);
}

describe('findLockouts', () => {
  it.each<[string, PolicyChange[]]>([
    ['the default', []],
    ['an enforced public server', [ENFORCED]],
    [
      'a backend that refuses keyless accounts, next to accounts with a key',
      [ENFORCED, { resourceServers: [KEYED_BACKEND] }],
    ],
    ['a list of users that says what it means', [ENFORCED, { providers: [listing(USERS)] }]],
    [
      'a list of logins that the provider owns',
      [ENFORCED, { providers: [listing(['alice'], { login: 'sub' })] }],
    ],
    [
      'groups that are read from Google Workspace, without refresh tokens',
      [
        ENFORCED,
        { providers: [{ ...RESTRICTED, storeRefreshToken: false, googleWorkspaceGroups: {} }] },
      ],
    ],
    ['a keyless-only server', [KEYLESS]],
    [
      'certificates required and possible',
      [KEYLESS, { mtls: MTLS, auth: { requiredLoginProviders: ['mtls'] } }],
    ],
  ])('finds nothing in %s', (_name, changes) => {
    expect(found(...changes).filter((finding) => !finding.startsWith('notice'))).toEqual([]);
  });

  it.each<[string, PolicyChange[]]>([
    [
      'error required-provider-not-configured',
      [
        {
          auth: {
            requiredLoginProviders: ['github'],
            anonymousSignupEnabled: false,
            signupProviders: ['x'],
          },
        },
      ],
    ],
    ['error no-login-method', [{ auth: { keyChallengeEnabled: false } }]],
    ['error no-login-method', [KEYLESS, { auth: { keyChallengeEnabled: false }, providers: [] }]],
    ['error keyless-provider-not-configured', [KEYLESS, { providers: [] }]],
    ['error keyless-accounts-need-plaintext', [{ keyless: { accountsEnabled: true } }]],
    ['error keyless-login-without-accounts', [KEYLESS, { keyless: { accountsEnabled: false } }]],
    ['error plaintext-only-without-keyless', [{ encryption: { storagePolicy: 'plaintext_only' } }]],
    ['warning client-challenges-accepted', [{ auth: { requireServerChallenge: false } }]],
    ['error mtls-without-keyless', [{ mtls: MTLS }]],
    ['error mtls-unreachable', [KEYLESS, { mtls: { ...MTLS, mode: 'forwarded' } }]],
    ['error signup-provider-not-configured', [{ auth: { signupProviders: ['okta'] } }]],
    [
      'error oauth-not-configured',
      [ENFORCED, { providers: [{ ...RESTRICTED, isOAuthConfigured: false }] }],
    ],
    [
      'error resource-server-admits-no-account',
      [
        KEYLESS,
        {
          auth: { ...KEYLESS.auth, keyChallengeEnabled: false },
          resourceServers: [KEYED_BACKEND],
        },
      ],
    ],
    ['error trusts-every-peer', [{ http: { trustedProxies: ['0.0.0.0/0'] } }]],
    ['warning no-signup-method', [{ auth: { anonymousSignupEnabled: false } }]],
    ['warning invitations-with-anonymous-signup', [{ auth: { signupInvitationsEnabled: true } }]],
    [
      'warning invitations-refused',
      [{ auth: { signupInvitationsEnabled: true, keyChallengeEnabled: false } }],
    ],
    ['warning no-signup-method', [ENFORCED, { encryption: { storagePolicy: 'plaintext_only' } }]],
    [
      'warning keyless-oauth-without-providers',
      [KEYLESS, { keyless: { oauth: { enabled: true, providers: [], autoProvision: true } } }],
    ],
    [
      'warning signup-provider-on-plaintext-only',
      [KEYLESS, { auth: { signupProviders: ['okta'] } }],
    ],
    [
      'warning public-url-without-tls',
      [{ http: { publicUrl: 'http://gate', tls: { certPath: '/tls.crt' } } }],
    ],
    [
      'warning anonymous-signup-on-public-server',
      [{ http: { publicUrl: 'https://gate.example.com' } }],
    ],
    [
      'warning any-program-on-public-server',
      [
        { http: { publicUrl: 'https://gate.example.com' } },
        { resourceServers: [relay({ programs: { ...PROGRAMS, clients: 'any' } })] },
      ],
    ],
    [
      'warning program-scope-without-text',
      [
        {
          resourceServers: [
            relay({ programs: { ...PROGRAMS, scopes: { read: { text: 'read', requires: [] } } } }),
          ],
        },
      ],
    ],
    [
      'warning anonymous-signup-with-required-provider',
      [ENFORCED, { auth: { anonymousSignupEnabled: true } }],
    ],
    ['warning required-provider-unrestricted', [ENFORCED, { providers: [okta()] }]],
    [
      'warning resource-server-provider-unrestricted',
      [{ providers: [okta()], resourceServers: [relay({ requireProviders: ['okta'] })] }],
    ],
    ['warning offboarding-without-allowlists', [ENFORCED, { providers: [okta()] }]],
    [
      'warning allowlists-without-offboarding',
      [ENFORCED, { auth: { offboarding: { enabled: false, intervalSeconds: 60, strict: false } } }],
    ],
    [
      'warning allowlist-not-checked-again',
      [ENFORCED, { providers: [{ ...RESTRICTED, storeRefreshToken: false }] }],
    ],
    [
      'warning keyless-without-offboarding',
      [KEYLESS, { auth: { offboarding: { enabled: false, intervalSeconds: 60, strict: false } } }],
    ],
    [
      'warning keyless-not-checked-again',
      [KEYLESS, { providers: [okta({ storeRefreshToken: false })] }],
    ],
    ['warning allowlist-entry-can-be-chosen', [ENFORCED, { providers: [listing(['alice'])] }]],
    [
      'warning directory-name-can-be-chosen',
      [ENFORCED, { providers: [okta({ scim: { match: 'userName', required: false } })] }],
    ],
    ['warning email-rule-never-met', [ENFORCED, { providers: [listing([], { email: 'upn' })] }]],
    [
      'warning email-rule-never-met',
      [ENFORCED, { providers: [listing(USERS, { email: 'upn', emailDomains: [] })] }],
    ],
    ['warning opt-out-without-optional-policy', [{ encryption: { allowAccountOptOut: true } }]],
    ['notice older-clients-on-plaintext-only', [KEYLESS]],
    ['notice older-clients-on-plain-accounts', [OPTIONAL, { keyless: { accountsEnabled: true } }]],
    [
      'notice older-clients-on-plain-accounts',
      [OPTIONAL, { encryption: { storagePolicy: 'optional', allowAccountOptOut: true } }],
    ],
    [
      'notice older-clients-on-plain-accounts',
      [OPTIONAL, { encryption: { storagePolicy: 'optional', defaultAccountMode: 'plain' } }],
    ],
    [
      'notice older-clients-on-keyless-provisioning',
      [KEYLESS, { encryption: { storagePolicy: 'optional' } }],
    ],
    [
      'warning auto-redirect-target-unavailable',
      [{ ui: { autoRedirect: { enabled: true, providerId: 'okta' } } }],
    ],
    [
      'warning auto-redirect-target-unavailable',
      [KEYLESS, { ui: { autoRedirect: { enabled: true, providerId: 'mtls' } } }],
    ],
  ])('finds %s', (finding, changes) => {
    expect(found(...changes)).toContain(finding);
  });

  it('reports nothing about clients where nothing is new to them', () => {
    const required: PolicyChange = { ...KEYLESS, encryption: { storagePolicy: 'required_e2ee' } };
    for (const quiet of [{}, ENFORCED, OPTIONAL, required]) {
      const notices = found(quiet).filter((finding) => finding.startsWith('notice'));
      expect(notices).toEqual([]);
    }
  });

  it.each<[string, string, PolicyChange[]]>([
    [
      'older-clients-on-plaintext-only',
      'SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY=optional',
      [KEYLESS],
    ],
    [
      'older-clients-on-plain-accounts',
      'SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY=required_e2ee',
      [KEYLESS, OPTIONAL],
    ],
    [
      'older-clients-on-keyless-provisioning',
      'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION=0',
      [KEYLESS],
    ],
  ])('names for %s the setting to change: %s', (code, setting, changes) => {
    const finding = findLockouts(policyWith(...changes)).find((one) => one.code === code);
    expect(finding?.message).toContain(setting);
  });

  it('names the entry, the claim and its format', () => {
    const provider = { ...listing(['alice', ...USERS, 'erin']) };
    const findings = findLockouts(policyWith({ providers: [provider] }));
    const finding = findings.find(({ code }) => code === 'allowlist-entry-can-be-chosen');
    expect(finding?.message).toContain('"alice", "erin", which the claim preferred_username');
    expect(finding?.message).toContain('sub:<subject> or email:<address>');
  });

  it('names the provider, and reports errors before warnings', () => {
    const findings = findLockouts(
      policyWith({ auth: { anonymousSignupEnabled: true, requiredLoginProviders: ['github'] } }),
    );
    expect(findings.map(({ severity }) => severity)).toEqual(['error', 'warning']);
    expect(findings[0]?.message).toContain('github');
  });
});
