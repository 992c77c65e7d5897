import type { CertificateRules } from './certificate/client-certificate.js';
import type { OffboardingRules } from './eligibility/offboarding.js';
import type { ProviderRules } from './eligibility/provider-rules.js';

/** What the server may store (specification, Keyless and encryption variables). */
export type StoragePolicy = 'required_e2ee' | 'optional' | 'plaintext_only';

/** How one account's content is stored: sealed by its own keys, or readable by the server. */
export type AccountMode = 'e2ee' | 'plain';

/** Whether an account holds device keys. */
export type KeyMode = 'keyed' | 'keyless';

/** How plain content is kept in the database. */
export type AtRest = 'server_sealed' | 'none';

/** Sign-up with a device key, and what every account needs. */
export interface AccessRules {
  readonly anonymousSignupEnabled: boolean;
  /** Whether a new device key may sign up with an invitation. */
  readonly signupInvitationsEnabled: boolean;
  /** Providers that may create keyed accounts. Empty = none. */
  readonly signupProviders: readonly string[];
  /** Provider ids, and `mtls` for a certificate identity. Empty = none is required. */
  readonly requiredLoginProviders: readonly string[];
  readonly keyChallengeEnabled: boolean;
  readonly requireServerChallenge: boolean;
  readonly offboarding: OffboardingRules;
}

export interface EncryptionRules {
  readonly storagePolicy: StoragePolicy;
  /** Applies only where the policy is `optional`. */
  readonly defaultAccountMode: AccountMode;
  readonly allowAccountOptOut: boolean;
  readonly plainAccountSettingsAtRest: AtRest;
  readonly plainAccountCredentialsAtRest: AtRest;
}

/** Accounts without device keys, and login to them through a provider. */
export interface KeylessRules {
  readonly accountsEnabled: boolean;
  readonly oauth: {
    readonly enabled: boolean;
    /** Empty = none. */
    readonly providers: readonly string[];
    /** Whether the first login creates the account. */
    readonly autoProvision: boolean;
  };
}

/** How client certificates reach the server, and whose count. */
export interface MtlsRules extends CertificateRules {
  readonly enabled: boolean;
  readonly mode: 'forwarded' | 'direct';
  readonly autoProvision: boolean;
  readonly trustForwardedHeaders: boolean;
  /** Addresses and CIDR ranges. Empty = no proxy is trusted. */
  readonly trustedProxies: readonly string[];
}

/** The decisions of an operator that policy reads. Configuration builds each as one slice. */
export interface OperatorPolicy {
  readonly http: { readonly publicUrl: string | null; readonly trustedProxies: readonly string[] };
  readonly auth: AccessRules;
  readonly encryption: EncryptionRules;
  readonly keyless: KeylessRules;
  readonly mtls: MtlsRules;
  readonly providers: readonly ProviderRules[];
  readonly ui: {
    readonly autoRedirect: { readonly enabled: boolean; readonly providerId: string | null };
  };
}
