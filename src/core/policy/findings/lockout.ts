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
import { hasKeysForAnswers } from '../admission/answers.js';
import { redirectTarget } from '../admission/feature-document.js';
import type { FINDING_MESSAGES } from '../messages/finding-messages.js';
import { stateWith, type MessageArguments } from '../messages/messages.js';
import type { Statement } from '../messages/statement.js';
import { readUserEntry, type UserEntryKind } from '../eligibility/eligibility.js';
import { capabilitiesOf, isRestricted, type ProviderRules } from '../eligibility/provider-rules.js';
import { isLoopbackHost } from '../flow/return-address.js';
import type { OperatorPolicy } from '../operator-policy.js';

export interface LockoutFinding extends Statement {
  /** error: users are locked out, or a rule has no effect; notice: older clients lack support. */
  readonly severity: 'error' | 'warning' | 'notice';
}

type Table = readonly AdmissionEntry[];

/** Each rule returns the parameters of its messages; true = one message, which has none. */
type LockoutRules = {
  readonly [Code in keyof typeof FINDING_MESSAGES]?: (
    policy: OperatorPolicy,
    table: Table,
  ) => MessageArguments<Code> extends [infer Params] ? false | Params | readonly Params[] : boolean;
};

/** Errors come first. None stops the start: a server with a lockout still runs, and refuses. */
export function findLockouts(policy: OperatorPolicy): LockoutFinding[] {
  const table = admissionTable(policy);
  const found = (severity: LockoutFinding['severity'], rules: LockoutRules): LockoutFinding[] =>
    Object.entries(rules).flatMap(([code, find]) => {
      const result = find(policy, table);
      const each = result === false ? [] : [result === true ? {} : result].flat();
      return each.map((params) => ({ severity, ...stateWith(code, params) }));
    });
  return [
    ...found('error', LOCKOUT_ERRORS),
    ...found('warning', LOCKOUT_WARNINGS),
    ...found('notice', LOCKOUT_NOTICES),
  ];
}

/** `mtls` has its own rules. */
function notConfigured(policy: OperatorPolicy, ids: readonly string[]): string[] {
  const configured = policy.providers.map(({ id }) => id);
  return ids.filter((id) => id !== 'mtls' && !configured.includes(id));
}

const toProvider = (provider: string) => ({ provider });

/** Judged by the name: a full domain name that no private network uses, or a public address. */
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

/** Users are locked out, or an enabled feature has no effect. */
const LOCKOUT_ERRORS: LockoutRules = {
  'no-login-method': (_policy, table) => !allows(table, 'login'),
  'keyless-accounts-need-plaintext': ({ keyless, encryption }) =>
    keyless.accountsEnabled && encryption.storagePolicy === 'required_e2ee',
  'keyless-login-without-accounts': ({ keyless }) =>
    keyless.oauth.enabled && !keyless.accountsEnabled,
  'plaintext-only-without-keyless': ({ keyless, encryption }) =>
    encryption.storagePolicy === 'plaintext_only' && !keyless.accountsEnabled,
  'mtls-without-keyless': (policy) =>
    policy.mtls.enabled &&
    !acceptsKeyless(policy) &&
    !policy.auth.requiredLoginProviders.includes(CERTIFICATES),
  'mtls-unreachable': ({ mtls }) => mtls.enabled && !isMtlsReachable(mtls),
  'required-provider-not-configured': (policy) =>
    notConfigured(policy, policy.auth.requiredLoginProviders).map(toProvider),
  'keyless-provider-not-configured': (policy) =>
    notConfigured(policy, policy.keyless.oauth.enabled ? policy.keyless.oauth.providers : []).map(
      toProvider,
    ),
  'signup-provider-not-configured': (policy) =>
    notConfigured(policy, policy.auth.signupProviders).map(toProvider),
  'oauth-not-configured': ({ providers }) =>
    providers.flatMap(({ id, isOAuthConfigured }) => (isOAuthConfigured ? [] : [toProvider(id)])),
  'resource-server-admits-no-account': ({ resourceServers }, table) =>
    resourceServers.flatMap(({ id, allowKeyless }) =>
      allowKeyless || methodsWith(table, 'login', 'keyed').length > 0 ? [] : [{ backend: id }],
    ),
  'trusts-every-peer': (policy) =>
    [...policy.http.trustedProxies, ...policy.mtls.trustedProxies].some((range) =>
      range.endsWith('/0'),
    ),
};

/** Combinations that work but are probably unintended. */
const LOCKOUT_WARNINGS: LockoutRules = {
  'no-signup-method': (_policy, table) =>
    !allows(table, 'provision') && { variable: refuserOf(table) },
  'keyless-oauth-without-providers': (policy) =>
    policy.keyless.oauth.enabled && policy.keyless.oauth.providers.length === 0,
  'answers-without-keys': (policy) => policy.answers.enabled === true && !hasKeysForAnswers(policy),
  'signup-provider-on-plaintext-only': (policy) =>
    policy.auth.signupProviders.length > 0 && policy.encryption.storagePolicy === 'plaintext_only',
  'client-challenges-accepted': (policy) =>
    policy.auth.keyChallengeEnabled && !policy.auth.requireServerChallenge,
  'login-origin-unknown': ({ auth, http }) =>
    auth.keyChallengeEnabled &&
    auth.loginOrigins.length === 0 &&
    !isLoopbackHost(http.host === '::1' ? '[::1]' : http.host),
  'public-url-without-tls': ({ http }) =>
    http.tls.certPath !== null && http.publicUrl?.startsWith('http:') === true,
  'anonymous-signup-on-public-server': (policy) =>
    policy.auth.anonymousSignupEnabled &&
    policy.auth.keyChallengeEnabled &&
    isPublicAddress(policy.http.publicUrl),
  'any-program-on-public-server': ({ resourceServers, http }) =>
    isPublicAddress(http.publicUrl) &&
    resourceServers.flatMap(({ id, programs }) =>
      programs?.clients === 'any' ? [{ backend: id }] : [],
    ),
  'program-scope-without-text': ({ resourceServers }) =>
    resourceServers.flatMap(({ id, programs }) =>
      Object.entries(programs?.scopes ?? {}).flatMap(([scope, { text }]) =>
        text.trim() === scope ? [{ backend: id, scope }] : [],
      ),
    ),
  'anonymous-signup-with-required-provider': (policy) =>
    policy.auth.anonymousSignupEnabled && policy.auth.requiredLoginProviders.length > 0,
  'invitations-with-anonymous-signup': (policy) =>
    policy.auth.signupInvitationsEnabled && policy.auth.anonymousSignupEnabled,
  'invitations-refused': ({ auth }, table) => {
    const decision = judgeAdmission(table, INVITATION, 'provision', 'keyed');
    return auth.signupInvitationsEnabled && !decision.isAllowed && { variable: decision.variable };
  },
  'required-provider-unrestricted': (policy) =>
    unrestricted(policy, policy.auth.requiredLoginProviders).map(toProvider),
  'resource-server-provider-unrestricted': (policy) =>
    policy.resourceServers.flatMap(({ id, requireProviders }) =>
      unrestricted(policy, requireProviders)
        .filter((provider) => !policy.auth.requiredLoginProviders.includes(provider))
        .map((provider) => ({ provider, resourceServer: id })),
    ),
  'offboarding-without-allowlists': (policy) =>
    policy.auth.offboarding.enabled && !policy.mtls.enabled && !policy.providers.some(isRestricted),
  'allowlists-without-offboarding': (policy) =>
    !policy.auth.offboarding.enabled && policy.providers.some(isRestricted),
  'allowlist-not-checked-again': (policy) =>
    policy.auth.offboarding.enabled &&
    policy.providers
      .filter((provider) => isRestricted(provider) && !capabilitiesOf(provider).isRecheckable)
      .map(({ id }) => toProvider(id)),
  'refresh-token-scope-missing': (policy) =>
    policy.auth.offboarding.enabled &&
    policy.providers
      .filter(
        (provider) => isRestricted(provider) && !capabilitiesOf(provider).asksForRefreshTokens,
      )
      .map(({ id }) => toProvider(id)),
  'graph-scope-missing': ({ providers }) =>
    providers
      .filter((provider) => !capabilitiesOf(provider).asksForGroups)
      .map(({ id }) => toProvider(id)),
  'github-app-id-missing': ({ providers }) =>
    providers.some((provider) => !capabilitiesOf(provider).findsRemovals),
  'certificates-not-checked-again': (policy) =>
    policy.mtls.enabled && !policy.auth.offboarding.enabled,
  'keyless-without-offboarding': (policy, table) => {
    const providers = keylessProviders(table);
    return !policy.auth.offboarding.enabled && providers.length > 0 && { providers };
  },
  'keyless-not-checked-again': (policy, table) =>
    policy.auth.offboarding.enabled &&
    policy.providers
      .filter((one) => keylessProviders(table).includes(one.id))
      .filter((one) => !isRestricted(one) && !capabilitiesOf(one).isRecheckable)
      .map(({ id }) => toProvider(id)),
  'allowlist-entry-can-be-chosen': ({ providers }) => providers.flatMap(choosableEntries),
  'directory-name-can-be-chosen': ({ providers }) => providers.flatMap(choosableNames),
  'email-rule-never-met': ({ providers }) => providers.flatMap(unmetEmailRules),
  'opt-out-without-optional-policy': (policy) =>
    policy.encryption.allowAccountOptOut && policy.encryption.storagePolicy !== 'optional',
  'auto-redirect-target-unavailable': ({ ui: { autoRedirect } }, table) =>
    autoRedirect.enabled &&
    autoRedirect.providerId !== null &&
    redirectTarget(table, autoRedirect) === null && { provider: autoRedirect.providerId },
};

function keylessProviders(table: Table): string[] {
  return methodsWith(table, 'login', 'keyless').filter((method) => method !== CERTIFICATES);
}

function refuserOf(table: Table): string {
  const decision = judgeAdmission(table, 'key_challenge', 'provision', 'keyed');
  return decision.isAllowed ? '' : decision.variable;
}

function allows(table: Table, action: AuthAction): boolean {
  return allowedMethods(table).some((entry) => entry.action === action);
}

function unrestricted({ providers }: OperatorPolicy, required: readonly string[]): string[] {
  return required.filter((id) => providers.some((one) => one.id === id && !isRestricted(one)));
}

/** Entries of the user list that match a login which people may choose themselves. */
function choosableEntries(provider: ProviderRules) {
  const { rules, chosenLogin: claim } = capabilitiesOf(provider);
  const entries = entriesOf('name', rules.users);
  return claim === null || entries.length === 0 ? [] : [{ provider: provider.id, entries, claim }];
}

/** A directory whose people are matched by a login that people may choose themselves. */
function choosableNames(provider: ProviderRules) {
  const { chosenLogin: claim } = capabilitiesOf(provider);
  const isNamed = provider.type === 'oidc' && provider.scim?.match === 'userName';
  return claim === null || !isNamed ? [] : [{ provider: provider.id, claim }];
}

/** Rules about e-mail addresses that no identity of the provider can meet. */
function unmetEmailRules(provider: ProviderRules) {
  const { rules, believesEmail, reports } = capabilitiesOf(provider);
  const isRequired = rules.emailDomains.length > 0 || entriesOf('email', rules.users).length > 0;
  const isAskedForEmail = reports !== 'organizations';
  return isRequired && !believesEmail(true) ? [{ provider: provider.id, isAskedForEmail }] : [];
}

function entriesOf(kind: UserEntryKind, users: readonly string[]): string[] {
  return users.filter((user) => readUserEntry(user).kind === kind);
}

/** Features that older clients do not understand (specification, Versioning, 3). */
const LOCKOUT_NOTICES: LockoutRules = {
  'older-clients-on-plaintext-only': (policy) =>
    policy.encryption.storagePolicy === 'plaintext_only',
  'older-clients-on-plain-accounts': (policy) =>
    policy.encryption.storagePolicy === 'optional' && hasPlainAccounts(policy),
  'older-clients-on-keyless-provisioning': (_policy, table) =>
    methodsWith(table, 'provision', 'keyless').some((id) => id !== CERTIFICATES),
};

function hasPlainAccounts({ encryption, keyless }: OperatorPolicy): boolean {
  const { allowAccountOptOut, defaultAccountMode } = encryption;
  return keyless.accountsEnabled || allowAccountOptOut || defaultAccountMode === 'plain';
}
