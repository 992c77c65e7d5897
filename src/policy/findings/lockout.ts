import {
  acceptsKeyless,
  admissionTable,
  allowedMethods,
  CERTIFICATES,
  INVITATION,
  isMtlsReachable,
  judgeAdmission,
  methodsWith,
  type AdmissionEntry,
  type AuthAction,
} from '../admission/admission.js';
import { redirectTarget } from '../admission/feature-document.js';
import { readUserEntry, type UserEntryKind } from '../eligibility/eligibility.js';
import {
  believesEmail,
  isRecheckable,
  isRestricted,
  type ProviderRules,
} from '../eligibility/provider-rules.js';
import { isLoopbackHost } from '../flow/return-address.js';
import type { OperatorPolicy } from '../operator-policy.js';

export interface LockoutFinding {
  /**
   * error: users are locked out, or a rule has no effect; warning: probably not what was meant;
   * notice: meant, and older clients do not understand it.
   */
  readonly severity: 'error' | 'warning' | 'notice';
  readonly code: string;
  readonly message: string;
}

/** Rules by the code of their finding: each returns the messages to give. */
type LockoutRules = Readonly<
  Record<string, (policy: OperatorPolicy, table: Table) => string | false | readonly string[]>
>;
type Table = readonly AdmissionEntry[];

/**
 * What this policy does that its operator may not have meant or weighed, errors first. None of it stops the
 * start: a server whose required provider cannot be connected yet still runs, and refuses.
 */
export function findLockouts(policy: OperatorPolicy): LockoutFinding[] {
  const table = admissionTable(policy);
  const found = (severity: LockoutFinding['severity'], rules: LockoutRules): LockoutFinding[] =>
    Object.entries(rules).flatMap(([code, find]) => {
      const messages = find(policy, table) || [];
      return [messages].flat().map((message) => ({ severity, code, message }));
    });
  return [
    ...found('error', LOCKOUT_ERRORS),
    ...found('warning', LOCKOUT_WARNINGS),
    ...found('notice', LOCKOUT_NOTICES),
  ];
}

/** The ids that no provider is configured for; `mtls` has rules of its own. */
function notConfigured(policy: OperatorPolicy, ids: readonly string[]): string[] {
  const configured = policy.providers.map(({ id }) => id);
  return ids.filter((id) => id !== 'mtls' && !configured.includes(id));
}

/**
 * Whether clients reach the server at an address of the public internet, judged by the name alone:
 * a full domain name that no private network uses, or a public address.
 */
function isPublicAddress(publicUrl: string | null): boolean {
  const host = publicUrl === null ? '' : new URL(publicUrl).hostname;
  if (host === '' || isLoopbackHost(host)) {
    return false;
  }
  if (/^\d+(\.\d+){3}$/.test(host)) {
    return !/^(10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/.test(
      host,
    );
  }
  if (host.startsWith('[')) {
    return !/^\[f[cde]/i.test(host);
  }
  return (
    host.includes('.') &&
    !/\.(local|localhost|internal|lan|home|arpa|test|corp|ts\.net)$/.test(host)
  );
}

/** Users are locked out, or something that is switched on has no effect. */
const LOCKOUT_ERRORS: LockoutRules = {
  'required-provider-not-configured': (policy) =>
    notConfigured(policy, policy.auth.requiredLoginProviders).map(
      (id) =>
        `AUTH_REQUIRED_LOGIN_PROVIDERS names ${id}, which is not configured: every account is refused until it is.`,
    ),
  'no-login-method': (_policy, table) =>
    !allows(table, 'login') &&
    'No way to log in is left: device keys, keyless providers and certificates are all off or incomplete.',
  'keyless-provider-not-configured': (policy) =>
    notConfigured(policy, policy.keyless.oauth.enabled ? policy.keyless.oauth.providers : []).map(
      (id) =>
        `SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS names ${id}, which is not configured: no user can log in through it.`,
    ),
  'keyless-accounts-need-plaintext': (policy) =>
    policy.keyless.accountsEnabled &&
    policy.encryption.storagePolicy === 'required_e2ee' &&
    'Keyless accounts are on, but SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY is required_e2ee: they stay off. Use optional or plaintext_only.',
  'keyless-login-without-accounts': (policy) =>
    policy.keyless.oauth.enabled &&
    !policy.keyless.accountsEnabled &&
    'Keyless OAuth login is on, but SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED is off: no user can log in that way.',
  'plaintext-only-without-keyless': (policy) =>
    policy.encryption.storagePolicy === 'plaintext_only' &&
    !policy.keyless.accountsEnabled &&
    'The storage policy is plaintext_only and keyless accounts are off: only keyed accounts can log in, and what they encrypt is refused.',
  'mtls-without-keyless': (policy) =>
    policy.mtls.enabled &&
    !acceptsKeyless(policy) &&
    !policy.auth.requiredLoginProviders.includes(CERTIFICATES) &&
    'Login with certificates is on, but it needs keyless accounts and a storage policy other than required_e2ee. (Where AUTH_REQUIRED_LOGIN_PROVIDERS names mtls, accounts with device keys connect one.)',
  'mtls-unreachable': (policy) =>
    policy.mtls.enabled &&
    !isMtlsReachable(policy.mtls) &&
    'Forwarded certificates are on, but no proxy is trusted to forward them: set SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS and SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES.',
  'signup-provider-not-configured': (policy) =>
    notConfigured(policy, policy.auth.signupProviders).map(
      (id) =>
        `AUTH_SIGNUP_PROVIDERS names ${id}, which is not configured: no user can sign up through it.`,
    ),
  'oauth-not-configured': ({ providers }) =>
    providers.flatMap(({ id, isOAuthConfigured }) =>
      isOAuthConfigured
        ? []
        : [
            `${id} is configured, but its callback at this server or the address that browsers return to is not known: no user can log in or connect through it. Set SERVICE_PUBLIC_URL; or its redirect address, with SERVICE_WEBAPP_URL or SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE.`,
          ],
    ),
  'trusts-every-peer': (policy) =>
    [...policy.http.trustedProxies, ...policy.mtls.trustedProxies].some((range) =>
      range.endsWith('/0'),
    ) &&
    'A list of trusted proxies holds every address: anyone who reaches the server directly can forge what a proxy says.',
};

/** Combinations that work, and are probably not what was meant. */
const LOCKOUT_WARNINGS: LockoutRules = {
  'no-signup-method': (_policy, table) =>
    !allows(table, 'provision') &&
    `No account can be created: ${refuserOf(table)} refuses new device keys, and no provider or certificate may create an account.`,
  'keyless-oauth-without-providers': (policy) =>
    policy.keyless.oauth.enabled &&
    policy.keyless.oauth.providers.length === 0 &&
    'Keyless OAuth login is on, but SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS is empty: an empty list allows no provider.',
  'signup-provider-on-plaintext-only': (policy) =>
    policy.auth.signupProviders.length > 0 &&
    policy.encryption.storagePolicy === 'plaintext_only' &&
    'AUTH_SIGNUP_PROVIDERS creates keyed accounts, which a plaintext_only server does not offer: use keyless auto-provisioning.',
  'client-challenges-accepted': (policy) =>
    policy.auth.keyChallengeEnabled &&
    !policy.auth.requireServerChallenge &&
    'AUTH_REQUIRE_SERVER_CHALLENGE is false: a login with a challenge that the client made never expires: a captured one can be sent again and again, each time for a new token. Set it to true once all clients ask /v1/auth/challenge.',
  'anonymous-signup-on-public-server': (policy) =>
    policy.auth.anonymousSignupEnabled &&
    policy.auth.keyChallengeEnabled &&
    isPublicAddress(policy.http.publicUrl) &&
    'SERVICE_PUBLIC_URL looks public and anonymous sign-up is on: anyone on the internet can create an account.',
  'anonymous-signup-beside-required-provider': (policy) =>
    policy.auth.anonymousSignupEnabled &&
    policy.auth.requiredLoginProviders.length > 0 &&
    'Anonymous sign-up is on although a provider is required: anyone can create accounts, which are of no use until the provider is connected.',
  'invitations-beside-anonymous-signup': (policy) =>
    policy.auth.signupInvitationsEnabled &&
    policy.auth.anonymousSignupEnabled &&
    'AUTH_SIGNUP_INVITATIONS_ENABLED is on, but anonymous sign-up is on as well: a new device key needs no invitation. Set AUTH_ANONYMOUS_SIGNUP_ENABLED=false.',
  'invitations-refused': ({ auth }, table) => {
    const decision = judgeAdmission(table, INVITATION, 'provision', 'keyed');
    return (
      auth.signupInvitationsEnabled &&
      !decision.isAllowed &&
      `AUTH_SIGNUP_INVITATIONS_ENABLED is on, but ${decision.variable} refuses new device keys: no invitation can be used.`
    );
  },
  'required-provider-unrestricted': (policy) =>
    unrestricted(policy).map(
      (id) => `${id} is required but has no allowlist: anyone with an identity there is eligible.`,
    ),
  'offboarding-without-allowlists': (policy) =>
    policy.auth.offboarding.enabled &&
    !policy.mtls.enabled &&
    !policy.providers.some(isRestricted) &&
    'Offboarding is on, but no provider has an allowlist: only identities that disappear lose access.',
  'allowlists-without-offboarding': (policy) =>
    !policy.auth.offboarding.enabled &&
    policy.providers.some(isRestricted) &&
    'A provider has an allowlist, but offboarding is off: a person removed from it keeps access.',
  'allowlist-not-checked-again': (policy) =>
    policy.auth.offboarding.enabled &&
    policy.providers
      .filter((provider) => isRestricted(provider) && !isRecheckable(provider))
      .map(
        ({ id }) =>
          `${id} has an allowlist and stores no refresh token: a person removed from it keeps access until the next login there. Leave storeRefreshToken out, or set it to true.`,
      ),
  'certificates-not-checked-again': (policy) =>
    policy.mtls.enabled &&
    !policy.auth.offboarding.enabled &&
    'Certificates log in, but AUTH_OFFBOARDING_ENABLED is false: one that is revoked keeps access until its tokens end.',
  'keyless-without-offboarding': (policy, table) => {
    const providers = keylessProviders(table);
    return (
      !policy.auth.offboarding.enabled &&
      providers.length > 0 &&
      `Accounts without device keys log in through ${providers.join(', ')}, but offboarding is off: their identities are never checked again, so a person who leaves keeps access until the next login there. Set AUTH_OFFBOARDING_ENABLED.`
    );
  },
  'keyless-not-checked-again': (policy, table) =>
    policy.auth.offboarding.enabled &&
    policy.providers
      .filter((one) => keylessProviders(table).includes(one.id))
      .filter((one) => !isRestricted(one) && !isRecheckable(one))
      .map(
        ({ id }) =>
          `${id} opens accounts without device keys and stores no refresh token: a person who leaves it keeps access until the next login there. Set storeRefreshToken.`,
      ),
  'allowlist-entry-can-be-chosen': ({ providers }) => providers.flatMap(choosableEntries),
  'email-rule-never-met': ({ providers }) => providers.flatMap(unmetEmailRules),
  'opt-out-without-optional-policy': (policy) =>
    policy.encryption.allowAccountOptOut &&
    policy.encryption.storagePolicy !== 'optional' &&
    'SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT has an effect only with the storage policy optional.',
  'auto-redirect-target-unavailable': ({ ui: { autoRedirect } }, table) =>
    autoRedirect.enabled &&
    autoRedirect.providerId !== null &&
    redirectTarget(table, autoRedirect) === null &&
    `The automatic redirect goes to ${autoRedirect.providerId}, which is not available for logging in: clients show the choice instead.`,
};

/** Providers that log in to keyless accounts. Empty = none. */
function keylessProviders(table: Table): string[] {
  return methodsWith(table, 'login', 'keyless').filter((method) => method !== CERTIFICATES);
}

/** The variable that refuses sign-up with a device key. */
function refuserOf(table: Table): string {
  const decision = judgeAdmission(table, 'key_challenge', 'provision', 'keyed');
  return decision.isAllowed ? '' : decision.variable;
}

function allows(table: Table, action: AuthAction): boolean {
  return allowedMethods(table).some((entry) => entry.action === action);
}

function unrestricted(policy: OperatorPolicy): string[] {
  return policy.auth.requiredLoginProviders.filter((required) =>
    policy.providers.some((one) => one.id === required && !isRestricted(one)),
  );
}

/** Entries of the list of users that match a login which people may choose themselves. */
function choosableEntries(provider: ProviderRules): string[] {
  // At GitHub a login belongs to one account.
  if (provider.type === 'github' || provider.claims.login === 'sub') {
    return [];
  }
  const { id, allow, claims } = provider;
  const names = entriesOf('name', allow.usersAllowlist).map((name) => JSON.stringify(name));
  return names.length === 0
    ? []
    : [
        `allow.usersAllowlist of ${id} has ${names.join(', ')}, which the claim ${claims.login} can match: at many providers people choose it themselves. Write sub:<subject> or email:<address>, or login:<name> where only an administrator can set it.`,
      ];
}

/** Rules about e-mail addresses that no identity of the provider can meet. */
function unmetEmailRules(provider: ProviderRules): string[] {
  if (provider.type === 'github') {
    return entriesOf('email', provider.allowedUsers).length === 0
      ? []
      : [
          'AUTH_GITHUB_ALLOWED_USERS has an e-mail address, which no person can match: GitHub is asked for none. Write the login or sub:<numeric id>.',
        ];
  }
  const { id, allow } = provider;
  const isRequired =
    allow.emailDomains.length > 0 || entriesOf('email', allow.usersAllowlist).length > 0;
  return !isRequired || believesEmail(provider, true)
    ? []
    : [
        `${id} has a rule about e-mail addresses, which no person can meet: email_verified vouches for the claim email only, and claims.email names another one. Set emailVerification to trustedIssuer if only an administrator can set that claim.`,
      ];
}

function entriesOf(kind: UserEntryKind, users: readonly string[]): string[] {
  return users.filter((user) => readUserEntry(user).kind === kind);
}

const STORAGE_POLICY = 'SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY';
const UPGRADE = 'Bring all clients up to date first (docs/upgrade.md); until then';

/**
 * What works as it was meant, and older clients do not understand, with the setting that serves them
 * (specification, Versioning, 3).
 */
const LOCKOUT_NOTICES: LockoutRules = {
  'older-clients-on-server-challenge': ({ auth }) =>
    auth.keyChallengeEnabled &&
    auth.requireServerChallenge &&
    `AUTH_REQUIRE_SERVER_CHALLENGE is on: older clients sign a challenge of their own at POST /v1/auth and are refused with challenge-required. ${UPGRADE} set AUTH_REQUIRE_SERVER_CHALLENGE=false.`,
  'older-clients-on-plaintext-only': (policy) =>
    policy.encryption.storagePolicy === 'plaintext_only' &&
    `The storage policy is plaintext_only: older clients fail when what they encrypt is refused. ${UPGRADE} set ${STORAGE_POLICY}=optional.`,
  'older-clients-on-plain-accounts': (policy) =>
    policy.encryption.storagePolicy === 'optional' &&
    hasPlainAccounts(policy) &&
    `The storage policy is optional and accounts can be plain: older clients read their settings at /v1/account/settings and are refused with plain-account-requires-settings-v2. ${UPGRADE} set ${STORAGE_POLICY}=required_e2ee.`,
  'older-clients-on-keyless-provisioning': (_policy, table) =>
    methodsWith(table, 'provision', 'keyless').some((id) => id !== CERTIFICATES) &&
    `Keyless OAuth auto-provisioning is on: older clients show no button for it, or fail to sign in. ${UPGRADE} set SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION=0.`,
};

function hasPlainAccounts({ encryption, keyless }: OperatorPolicy): boolean {
  const { allowAccountOptOut, defaultAccountMode } = encryption;
  return keyless.accountsEnabled || allowAccountOptOut || defaultAccountMode === 'plain';
}
