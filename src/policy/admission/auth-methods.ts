import type { ProviderRules } from '../eligibility/provider-rules.js';
import type { MtlsRules, OperatorPolicy } from '../operator-policy.js';
import { judgeKeylessAccounts, judgeKeylessOAuth, type KeylessRules } from './keyless.js';

export type AuthAction = 'login' | 'provision' | 'connect';
export type AuthMode = 'keyed' | 'keyless';

/** One advertised method: what (a method) does what (an action) for which kind of account. */
export interface AuthMethod {
  readonly method: string;
  readonly action: AuthAction;
  readonly mode: AuthMode;
}

/** The part of the policy that decides which methods are offered. */
export type AdmissionPolicy = Pick<OperatorPolicy, 'auth' | 'keyless' | 'mtls' | 'providers'>;

/** What a method does, for which kind of account, and whether it is offered. */
type Row = readonly [action: AuthAction, mode: AuthMode, isOffered: boolean];

function offered(method: string, rows: readonly Row[]): AuthMethod[] {
  return rows.flatMap(([action, mode, isOffered]) => (isOffered ? [{ method, action, mode }] : []));
}

/**
 * The methods that work under this policy (contract, Discovery).
 *
 * @param keyedAccountsExist whether a `plaintext_only` server still has accounts with device keys
 */
export function authMethods(policy: AdmissionPolicy, keyedAccountsExist: boolean): AuthMethod[] {
  const { auth, keyless, mtls, providers } = policy;
  const storesEncrypted = keyless.storagePolicy !== 'plaintext_only';
  const deviceKeys = auth.keyChallengeEnabled && (storesEncrypted || keyedAccountsExist);
  const certificates = acceptsCertificates(policy);
  return [
    ...offered('key_challenge', [
      ['login', 'keyed', deviceKeys],
      ['provision', 'keyed', deviceKeys && auth.anonymousSignupEnabled],
    ]),
    ...providers.filter(isReachable).flatMap(({ id }) => {
      const isKeyless = judgeKeylessOAuth(keyless, id).isAllowed;
      return offered(id, [
        ['connect', 'keyed', true],
        ['connect', 'keyless', keyless.accountsEnabled],
        ['provision', 'keyed', storesEncrypted && auth.signupProviders.includes(id)],
        ['login', 'keyless', isKeyless],
        ['provision', 'keyless', isKeyless && keyless.oauth.autoProvision],
      ]);
    }),
    ...offered('mtls', [
      ['login', 'keyless', certificates],
      ['provision', 'keyless', certificates && mtls.autoProvision],
    ]),
  ];
}

/** Whether keyless accounts can exist: enabled, and the storage policy allows plain content. */
export function acceptsKeyless({ keyless }: { readonly keyless: KeylessRules }): boolean {
  return judgeKeylessAccounts(keyless).isAllowed;
}

/** Configured providers that log in to keyless accounts. Empty = none. */
export function keylessProviders({ keyless, providers }: AdmissionPolicy): string[] {
  const configured = new Set(providers.filter(isReachable).map(({ id }) => id));
  return keyless.oauth.providers.filter(
    (id) => configured.has(id) && judgeKeylessOAuth(keyless, id).isAllowed,
  );
}

/** Configured providers that can create an account with device keys. Empty = none. */
export function keyedSignupProviders({ auth, keyless, providers }: AdmissionPolicy): string[] {
  const configured = new Set(providers.filter(isReachable).map(({ id }) => id));
  return auth.keyChallengeEnabled && keyless.storagePolicy !== 'plaintext_only'
    ? auth.signupProviders.filter((id) => configured.has(id))
    : [];
}

/** Otherwise every OAuth request is answered `oauth-not-configured`. */
function isReachable({ isOAuthConfigured }: ProviderRules): boolean {
  return isOAuthConfigured;
}

/** Whether login with a client certificate works. */
export function acceptsCertificates(policy: Pick<AdmissionPolicy, 'keyless' | 'mtls'>): boolean {
  return acceptsKeyless(policy) && policy.mtls.enabled && isMtlsReachable(policy.mtls);
}

/** Whether a certificate can reach the server: on its own port, or through a trusted proxy. */
export function isMtlsReachable(mtls: MtlsRules): boolean {
  return mtls.mode === 'direct' || (mtls.trustForwardedHeaders && mtls.trustedProxies.length > 0);
}
