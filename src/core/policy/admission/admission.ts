import { isRestricted, type ProviderRules } from '../eligibility/provider-rules.js';
import type { MtlsRules, OperatorPolicy } from '../operator-policy.js';

export type AuthAction = 'login' | 'provision' | 'connect';
export type AuthMode = 'keyed' | 'keyless';

export interface AuthMethod {
  readonly method: string;
  readonly action: AuthAction;
  readonly mode: AuthMode;
  /** True if an allowlist restricts the entry; absent = unrestricted. */
  readonly restricted?: true;
}

interface AdmissionRefusal {
  readonly isAllowed: false;
  readonly code:
    | 'key-challenge-disabled'
    | 'signup-disabled'
    | 'signup-provider-disabled'
    | 'keyless-disabled'
    | 'e2ee-required'
    | 'unsupported-provider'
    | 'oauth-not-configured'
    | 'mtls-required'
    | 'not-found';
  /** The variable that refuses the entry, for operators only. */
  readonly variable: string;
}

export type AdmissionDecision = { readonly isAllowed: true } | AdmissionRefusal;

export interface AdmissionEntry extends AuthMethod {
  readonly decision: AdmissionDecision;
}

export type AdmissionPolicy = Pick<
  OperatorPolicy,
  'answers' | 'auth' | 'encryption' | 'keyless' | 'mtls' | 'providers' | 'resourceServers'
>;

export const CERTIFICATES = 'mtls';

/** Id of the sign-up of a device key with an invitation. */
export const INVITATION = 'invitation';

const ALLOWED = { isAllowed: true } as const;

const STORAGE_POLICY = 'SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY';
const KEYLESS_ACCOUNTS = 'SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED';
const OAUTH_PROVISION = 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION';
const TRUST_FORWARDED = 'SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS';
const MTLS_PROVISION = 'SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION';

/**
 * The one table of admission: every (method, action, mode) under a configuration (contract,
 * Discovery). Endpoints, discovery, findings and reports read it; nothing else decides.
 */
export function admissionTable(policy: AdmissionPolicy): readonly AdmissionEntry[] {
  return [
    ...entries('key_challenge', false, [
      ['login', 'keyed', keyLogin(policy)],
      ['provision', 'keyed', keySignup(policy)],
    ]),
    ...entries(INVITATION, false, [['provision', 'keyed', invitedSignup(policy)]]),
    ...policy.providers.flatMap((provider) =>
      entries(provider.id, isRestricted(provider), [
        ['connect', 'keyed', oauth(provider)],
        ['connect', 'keyless', oauth(provider) ?? keylessAccounts(policy)],
        ['provision', 'keyed', oauth(provider) ?? keyedProviderSignup(policy, provider.id)],
        ['login', 'keyless', oauth(provider) ?? keylessOAuth(policy, provider.id)],
        ['provision', 'keyless', oauth(provider) ?? keylessOAuthSignup(policy, provider.id)],
      ]),
    ),
    ...entries(CERTIFICATES, restrictsCertificates(policy.mtls), [
      ['connect', 'keyed', certificates(policy)],
      ['connect', 'keyless', certificates(policy) ?? keylessAccounts(policy)],
      ['login', 'keyless', certificateLogin(policy)],
      ['provision', 'keyless', certificateSignup(policy)],
    ]),
  ];
}

/** Returns `unsupported-provider` for a method that is not configured. */
export function judgeAdmission(
  table: readonly AdmissionEntry[],
  method: string,
  action: AuthAction,
  mode: AuthMode,
): AdmissionDecision {
  const found = table.find(
    (entry) => entry.method === method && entry.action === action && entry.mode === mode,
  );
  return found?.decision ?? refusal('unsupported-provider', 'AUTH_PROVIDERS_CONFIG_PATH');
}

export function allowedMethods(table: readonly AdmissionEntry[]): AuthMethod[] {
  return table.flatMap(({ decision, ...method }) => (decision.isAllowed ? [method] : []));
}

export function methodsWith(
  table: readonly AdmissionEntry[],
  action: AuthAction,
  mode: AuthMode,
): string[] {
  return table.flatMap((entry) =>
    entry.action === action && entry.mode === mode && entry.decision.isAllowed
      ? [entry.method]
      : [],
  );
}

type MtlsReach = Pick<MtlsRules, 'enabled' | 'mode' | 'trustForwardedHeaders' | 'trustedProxies'>;

/** Returns true if a certificate can reach the server: on its own port, or through a trusted proxy. */
export function isMtlsReachable(mtls: MtlsReach): boolean {
  return mtls.mode === 'direct' || (mtls.trustForwardedHeaders && mtls.trustedProxies.length > 0);
}

/** Returns the methods with which accounts without a device key sign in, as {@link admissionTable} has them. */
export function keylessLogins(
  policy: Pick<AdmissionPolicy, 'encryption' | 'keyless' | 'providers'> & {
    readonly mtls: MtlsReach;
  },
): string[] {
  const providers = policy.providers.filter(
    (provider) => (oauth(provider) ?? keylessOAuth(policy, provider.id)) === null,
  );
  return [
    ...providers.map(({ id }) => id),
    ...(certificateLogin(policy) === null ? [CERTIFICATES] : []),
  ];
}

export function acceptsKeyless(policy: KeylessPolicy): boolean {
  return keylessAccounts(policy) === null;
}

type KeylessPolicy = Pick<OperatorPolicy, 'encryption' | 'keyless'>;

/** null = allowed. */
type Check = AdmissionRefusal | null;

type Row = readonly [action: AuthAction, mode: AuthMode, refusal: Check];

function entries(method: string, isNarrowed: boolean, rows: readonly Row[]): AdmissionEntry[] {
  return rows.map(([action, mode, refusal]) => ({
    method,
    action,
    mode,
    ...(isNarrowed && { restricted: true as const }),
    decision: refusal ?? ALLOWED,
  }));
}

function unless(holds: boolean, code: AdmissionRefusal['code'], variable: string): Check {
  return holds ? null : refusal(code, variable);
}

function refusal(code: AdmissionRefusal['code'], variable: string): AdmissionRefusal {
  return { isAllowed: false, code, variable };
}

/** Existing accounts sign in with their key under every storage policy. */
function keyLogin({ auth }: Pick<AdmissionPolicy, 'auth'>): Check {
  return unless(auth.keyChallengeEnabled, 'key-challenge-disabled', 'AUTH_KEY_CHALLENGE_ENABLED');
}

function storesEncrypted({ encryption }: AdmissionPolicy, code: AdmissionRefusal['code']): Check {
  return unless(encryption.storagePolicy !== 'plaintext_only', code, STORAGE_POLICY);
}

function keySignup(policy: AdmissionPolicy): Check {
  const isOpen = policy.auth.anonymousSignupEnabled;
  return newDeviceKey(policy, isOpen, 'AUTH_ANONYMOUS_SIGNUP_ENABLED');
}

function invitedSignup(policy: AdmissionPolicy): Check {
  const isOpen = policy.auth.signupInvitationsEnabled;
  return newDeviceKey(policy, isOpen, 'AUTH_SIGNUP_INVITATIONS_ENABLED');
}

function newDeviceKey(policy: AdmissionPolicy, isOpen: boolean, variable: string): Check {
  const code = 'signup-disabled';
  return keyLogin(policy) ?? storesEncrypted(policy, code) ?? unless(isOpen, code, variable);
}

/** Without a callback or a return address, no OAuth request can start. */
function oauth({ isOAuthConfigured }: ProviderRules): Check {
  return unless(isOAuthConfigured, 'oauth-not-configured', 'SERVICE_PUBLIC_URL');
}

/** An account with device keys that is created through a provider signs in with its key afterwards. */
function keyedProviderSignup(policy: AdmissionPolicy, provider: string): Check {
  const code = 'signup-provider-disabled';
  return (
    keyLogin(policy) ??
    storesEncrypted(policy, code) ??
    unless(policy.auth.signupProviders.includes(provider), code, 'AUTH_SIGNUP_PROVIDERS')
  );
}

function keylessAccounts({ encryption, keyless }: KeylessPolicy): Check {
  return (
    unless(encryption.storagePolicy !== 'required_e2ee', 'e2ee-required', STORAGE_POLICY) ??
    unless(keyless.accountsEnabled, 'keyless-disabled', KEYLESS_ACCOUNTS)
  );
}

/** An empty list of providers allows none. */
function keylessOAuth(policy: KeylessPolicy, provider: string): Check {
  const { enabled, providers } = policy.keyless.oauth;
  const code = 'keyless-disabled';
  return (
    keylessAccounts(policy) ??
    unless(enabled, code, 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED') ??
    unless(providers.includes(provider), code, 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS')
  );
}

function keylessOAuthSignup(policy: AdmissionPolicy, provider: string): Check {
  return (
    keylessOAuth(policy, provider) ??
    unless(policy.keyless.oauth.autoProvision, 'signup-provider-disabled', OAUTH_PROVISION)
  );
}

/** An account with device keys may also need a certificate, so connecting has no other check. */
function certificates({ mtls }: { readonly mtls: MtlsReach }): Check {
  return (
    unless(mtls.enabled, 'not-found', 'SERVICE_FEATURE_AUTH_MTLS__ENABLED') ??
    unless(isMtlsReachable(mtls), 'mtls-required', TRUST_FORWARDED)
  );
}

function certificateLogin(policy: KeylessPolicy & { readonly mtls: MtlsReach }): Check {
  const { enabled } = policy.mtls;
  return (enabled ? keylessAccounts(policy) : null) ?? certificates(policy);
}

function certificateSignup(policy: AdmissionPolicy): Check {
  return (
    certificateLogin(policy) ??
    unless(policy.mtls.autoProvision, 'signup-provider-disabled', MTLS_PROVISION)
  );
}

function restrictsCertificates({ allowedEmailDomains, allowedIssuers }: MtlsRules): boolean {
  return allowedEmailDomains.length > 0 || allowedIssuers.length > 0;
}
