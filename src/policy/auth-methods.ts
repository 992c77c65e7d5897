import type { StoragePolicy } from './storage-policy.js';

export type AuthAction = 'login' | 'provision' | 'connect';
export type AuthMode = 'keyed' | 'keyless';

/** One advertised way in: what (a method) does what (an action) for which kind of account. */
export interface AuthMethod {
  readonly method: string;
  readonly action: AuthAction;
  readonly mode: AuthMode;
}

/** What the operator's policy says, as far as ways in are concerned. */
export interface AuthMethodFacts {
  readonly storagePolicy: StoragePolicy;
  readonly keyChallengeEnabled: boolean;
  /** Only asked on a `plaintext_only` server: are there device-key accounts under it. */
  readonly keyedAccountsExist: boolean;
  readonly anonymousSignupEnabled: boolean;
  readonly keylessAccountsEnabled: boolean;
  readonly keylessOAuthEnabled: boolean;
  readonly keylessOAuthProviders: readonly string[];
  readonly keylessOAuthAutoProvision: boolean;
  readonly signupProviders: readonly string[];
  /** Ids of the providers that are configured. */
  readonly providers: readonly string[];
  readonly mtlsUsable: boolean;
  readonly mtlsAutoProvision: boolean;
}

interface Row {
  readonly action: AuthAction;
  readonly mode: AuthMode;
  readonly isOffered: (facts: AuthMethodFacts, provider: string) => boolean;
}

const acceptsKeyless = (facts: AuthMethodFacts): boolean =>
  facts.keylessAccountsEnabled && facts.storagePolicy !== 'required_e2ee';

const acceptsDeviceKeys = (facts: AuthMethodFacts): boolean =>
  facts.keyChallengeEnabled &&
  (facts.storagePolicy !== 'plaintext_only' || facts.keyedAccountsExist);

const keylessOAuth = (facts: AuthMethodFacts, provider: string): boolean =>
  acceptsKeyless(facts) &&
  facts.keylessOAuthEnabled &&
  facts.keylessOAuthProviders.includes(provider);

const mtls = (facts: AuthMethodFacts): boolean => acceptsKeyless(facts) && facts.mtlsUsable;

const DEVICE_KEY: readonly Row[] = [
  { action: 'login', mode: 'keyed', isOffered: acceptsDeviceKeys },
  {
    action: 'provision',
    mode: 'keyed',
    isOffered: (facts) => acceptsDeviceKeys(facts) && facts.anonymousSignupEnabled,
  },
];

const PROVIDER: readonly Row[] = [
  { action: 'connect', mode: 'keyed', isOffered: () => true },
  { action: 'connect', mode: 'keyless', isOffered: (facts) => facts.keylessAccountsEnabled },
  {
    action: 'provision',
    mode: 'keyed',
    isOffered: (facts, provider) =>
      facts.signupProviders.includes(provider) && facts.storagePolicy !== 'plaintext_only',
  },
  { action: 'login', mode: 'keyless', isOffered: keylessOAuth },
  {
    action: 'provision',
    mode: 'keyless',
    isOffered: (facts, provider) =>
      keylessOAuth(facts, provider) && facts.keylessOAuthAutoProvision,
  },
];

const MTLS: readonly Row[] = [
  { action: 'login', mode: 'keyless', isOffered: mtls },
  { action: 'provision', mode: 'keyless', isOffered: (f) => mtls(f) && f.mtlsAutoProvision },
];

/** The ways in that work right now under this policy (contract, Discovery). */
export function authMethods(facts: AuthMethodFacts): AuthMethod[] {
  const offered = (rows: readonly Row[], method: string): AuthMethod[] =>
    rows
      .filter((row) => row.isOffered(facts, method))
      .map(({ action, mode }) => ({ method, action, mode }));
  return [
    ...offered(DEVICE_KEY, 'key_challenge'),
    ...facts.providers.flatMap((provider) => offered(PROVIDER, provider)),
    ...offered(MTLS, 'mtls'),
  ];
}
