import type { StoragePolicy } from './storage-policy.js';

/** A provider's rules about people, as far as findings about who could choose what need them. */
export interface UserList {
  readonly provider: string;
  /** Where the operator wrote it. */
  readonly place: string;
  readonly users: readonly string[];
  /** The claim with the login where people may be able to choose it; null = the provider owns it. */
  readonly choosableLogin: string | null;
  /** Whether an e-mail rule of the provider can be met at all. */
  readonly emailsCount: boolean;
  /** Whether domains of e-mail addresses are asked for. */
  readonly asksForDomains: boolean;
}

/** What an operator decided about access, as far as findings and sentences need it. */
export interface AccessPolicyFacts {
  readonly anonymousSignupEnabled: boolean;
  readonly signupProviders: readonly string[];
  /** Provider ids, and `mtls` for a certificate identity. */
  readonly requiredLoginProviders: readonly string[];
  readonly configuredProviders: readonly string[];
  /** Those of them that an allowlist narrows. */
  readonly restrictedProviders: readonly string[];
  /** Those of the restricted ones that cannot be asked again without the user. */
  readonly uncheckableProviders: readonly string[];
  readonly userLists: readonly UserList[];
  readonly keyChallengeEnabled: boolean;
  readonly requireServerChallenge: boolean;
  readonly storagePolicy: StoragePolicy;
  readonly allowAccountOptOut: boolean;
  readonly keylessAccountsEnabled: boolean;
  readonly keylessOauth: {
    readonly enabled: boolean;
    readonly providers: readonly string[];
    readonly autoProvision: boolean;
  };
  readonly mtls: {
    readonly enabled: boolean;
    readonly autoProvision: boolean;
    /** Whether any certificate can reach the server with this configuration. */
    readonly reachable: boolean;
  };
  readonly offboarding: {
    readonly enabled: boolean;
    readonly intervalSeconds: number;
    readonly strict: boolean;
  };
  readonly autoRedirectProviderId: string | null;
  /** Whether plain content is sealed before it is stored, settings and credentials both. */
  readonly plainContentSealed: boolean;
  /** Whether clients reach the server at an address of the public internet, as far as names tell. */
  readonly publiclyAddressed: boolean;
  /** Whether a whole address family counts as a trusted proxy. */
  readonly everyPeerTrusted: boolean;
}

/** Whether keyless accounts can exist: switched on, and the storage policy has room for them. */
export function keylessPossible(facts: AccessPolicyFacts): boolean {
  return facts.keylessAccountsEnabled && facts.storagePolicy !== 'required_e2ee';
}

/** Configured providers through which a keyless account can be reached. Empty = none. */
export function keylessProviders(facts: AccessPolicyFacts): string[] {
  return keylessPossible(facts) && facts.keylessOauth.enabled
    ? facts.keylessOauth.providers.filter((id) => facts.configuredProviders.includes(id))
    : [];
}

/** Whether a certificate can log somebody in. */
export function mtlsPossible(facts: AccessPolicyFacts): boolean {
  return facts.mtls.enabled && facts.mtls.reachable && keylessPossible(facts);
}

/** Whether an account with device keys can log in; existing ones still do on plaintext_only. */
export function keyedPossible(facts: AccessPolicyFacts): boolean {
  return facts.keyChallengeEnabled;
}

/** Configured providers that can create an account with device keys. Empty = none. */
export function keyedSignupProviders(facts: AccessPolicyFacts): string[] {
  return keyedPossible(facts) && facts.storagePolicy !== 'plaintext_only'
    ? facts.signupProviders.filter((id) => facts.configuredProviders.includes(id))
    : [];
}
