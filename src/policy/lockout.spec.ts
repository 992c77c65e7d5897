import { DEFAULT_POLICY } from '../../test/fakes/access-policy.js';
import type { AccessPolicyFacts, UserList } from './access-facts.js';
import { findLockouts } from './lockout.js';

/** A public server that follows the specification's advice, its provider connected. */
const ENFORCED: Partial<AccessPolicyFacts> = {
  anonymousSignupEnabled: false,
  signupProviders: ['okta'],
  requiredLoginProviders: ['okta'],
  configuredProviders: ['okta'],
  restrictedProviders: ['okta'],
  offboarding: { enabled: true, intervalSeconds: 86_400, strict: false },
  publiclyAddressed: true,
};

const KEYLESS: Partial<AccessPolicyFacts> = {
  ...ENFORCED,
  storagePolicy: 'plaintext_only',
  signupProviders: [],
  keylessAccountsEnabled: true,
  keylessOauth: { enabled: true, providers: ['okta'], autoProvision: true },
};

const USER_LIST: UserList = {
  provider: 'okta',
  place: 'allow.usersAllowlist of okta',
  users: ['sub:00u1', 'email:bob@acme.example', 'carol@acme.example', 'login:dave'],
  choosableLogin: 'preferred_username',
  emailsCount: true,
  asksForDomains: true,
};

const MTLS = { enabled: true, autoProvision: true, reachable: true };

function found(facts: Partial<AccessPolicyFacts>): string[] {
  return findLockouts({ ...DEFAULT_POLICY, ...facts }).map(
    ({ severity, code }) => `${severity} ${code}`,
  );
}

describe('findLockouts', () => {
  it.each([
    ['the default', {}],
    ['an enforced public server', ENFORCED],
    ['a list of users that says what it means', { ...ENFORCED, userLists: [USER_LIST] }],
    [
      'a list of logins that the provider owns',
      { ...ENFORCED, userLists: [{ ...USER_LIST, users: ['alice'], choosableLogin: null }] },
    ],
    ['a keyless-only server', KEYLESS],
    [
      'certificates required and possible',
      { ...KEYLESS, mtls: MTLS, requiredLoginProviders: ['mtls'] },
    ],
  ])('finds nothing in %s', (_name, facts) => {
    expect(found(facts).filter((finding) => !finding.startsWith('notice'))).toEqual([]);
  });

  it.each<[string, Partial<AccessPolicyFacts>]>([
    [
      'error required-provider-not-configured',
      { requiredLoginProviders: ['github'], anonymousSignupEnabled: false, signupProviders: ['x'] },
    ],
    ['error required-mtls-unavailable', { ...KEYLESS, requiredLoginProviders: ['mtls'] }],
    ['error nobody-can-log-in', { keyChallengeEnabled: false }],
    [
      'error nobody-can-log-in',
      { ...KEYLESS, keyChallengeEnabled: false, configuredProviders: [] },
    ],
    ['error keyless-provider-not-configured', { ...KEYLESS, configuredProviders: [] }],
    ['error keyless-accounts-need-plaintext', { keylessAccountsEnabled: true }],
    ['error keyless-login-without-accounts', { ...KEYLESS, keylessAccountsEnabled: false }],
    ['error plaintext-only-without-keyless', { storagePolicy: 'plaintext_only' }],
    ['warning client-challenges-accepted', { requireServerChallenge: false }],
    ['error mtls-without-keyless', { mtls: MTLS }],
    ['error mtls-unreachable', { ...KEYLESS, mtls: { ...MTLS, reachable: false } }],
    ['error signup-provider-not-configured', { signupProviders: ['okta'] }],
    ['error trusts-every-peer', { everyPeerTrusted: true }],
    ['warning nobody-can-sign-up', { anonymousSignupEnabled: false }],
    ['warning nobody-can-sign-up', { ...ENFORCED, storagePolicy: 'plaintext_only' }],
    [
      'warning keyless-oauth-without-providers',
      { ...KEYLESS, keylessOauth: { enabled: true, providers: [], autoProvision: true } },
    ],
    ['warning signup-provider-on-plaintext-only', { ...KEYLESS, signupProviders: ['okta'] }],
    ['warning anonymous-signup-on-public-server', { publiclyAddressed: true }],
    [
      'warning anonymous-signup-beside-required-provider',
      { ...ENFORCED, anonymousSignupEnabled: true },
    ],
    ['warning required-provider-unrestricted', { ...ENFORCED, restrictedProviders: [] }],
    ['warning offboarding-without-allowlists', { ...ENFORCED, restrictedProviders: [] }],
    [
      'warning allowlists-without-offboarding',
      { ...ENFORCED, offboarding: { enabled: false, intervalSeconds: 60, strict: false } },
    ],
    ['warning allowlist-not-checked-again', { ...ENFORCED, uncheckableProviders: ['okta'] }],
    [
      'warning allowlist-entry-can-be-chosen',
      { ...ENFORCED, userLists: [{ ...USER_LIST, users: ['alice'] }] },
    ],
    [
      'warning email-rule-never-met',
      { ...ENFORCED, userLists: [{ ...USER_LIST, emailsCount: false, users: [] }] },
    ],
    [
      'warning email-rule-never-met',
      { ...ENFORCED, userLists: [{ ...USER_LIST, emailsCount: false, asksForDomains: false }] },
    ],
    ['warning opt-out-without-optional-policy', { allowAccountOptOut: true }],
    ['notice older-clients-on-plaintext-only', KEYLESS],
    ['notice older-clients-on-keyless-provisioning', { ...KEYLESS, storagePolicy: 'optional' }],
    ['warning auto-redirect-target-unavailable', { autoRedirectProviderId: 'okta' }],
    ['warning auto-redirect-target-unavailable', { ...KEYLESS, autoRedirectProviderId: 'mtls' }],
  ])('finds %s', (finding, facts) => {
    expect(found(facts)).toContain(finding);
  });

  it('has nothing to say of clients where nothing is new to them', () => {
    const facts = { ...KEYLESS, storagePolicy: 'required_e2ee' } as const;
    for (const quiet of [{}, ENFORCED, facts]) {
      expect(found(quiet).filter((finding) => finding.startsWith('notice'))).toEqual([]);
    }
  });

  it('names the entry, the claim and how to write it', () => {
    const userLists = [{ ...USER_LIST, users: ['alice', ...USER_LIST.users, 'erin'] }];
    const [finding] = findLockouts({ ...DEFAULT_POLICY, userLists });
    expect(finding?.message).toContain('"alice", "erin", which the claim preferred_username');
    expect(finding?.message).toContain('sub:<subject> or email:<address>');
  });

  it('names the provider, and tells errors before warnings', () => {
    const findings = findLockouts({
      ...DEFAULT_POLICY,
      anonymousSignupEnabled: true,
      requiredLoginProviders: ['github'],
    });
    expect(findings.map(({ severity }) => severity)).toEqual(['error', 'warning']);
    expect(findings[0]?.message).toContain('github');
  });
});
