import type { ResourceServer } from './admission/resource-server.js';
import type { CertificateRules } from './certificate/client-certificate.js';
import type { OffboardingRules } from './eligibility/offboarding.js';
import type { ProviderRules } from './eligibility/provider-rules.js';

/** Kinds of content that the server may store (specification, Keyless and encryption variables). */
export type StoragePolicy = 'required_e2ee' | 'optional' | 'plaintext_only';

/** By keys of the account, or readable by the server. */
export type AccountMode = 'e2ee' | 'plain';

export type KeyMode = 'keyed' | 'keyless';

/** Form of plain content in the database. */
type AtRest = 'server_sealed' | 'none';

interface AccessRules {
  readonly anonymousSignupEnabled: boolean;
  /** True if a new device key may sign up with an invitation. */
  readonly signupInvitationsEnabled: boolean;
  /** Providers that may create keyed accounts. Empty = none. */
  readonly signupProviders: readonly string[];
  /** Provider ids, and `mtls` for a certificate identity. Empty = none. */
  readonly requiredLoginProviders: readonly string[];
  readonly keyChallengeEnabled: boolean;
  /** Requests use facts about access from memory for so long. */
  readonly accessCacheMs: number;
  readonly requireServerChallenge: boolean;
  /** Origins that challenges list. Empty = none is known. */
  readonly loginOrigins: readonly string[];
  readonly offboarding: OffboardingRules;
}

export interface EncryptionRules {
  readonly storagePolicy: StoragePolicy;
  /** Applies only to the storage policy `optional`. */
  readonly defaultAccountMode: AccountMode;
  readonly allowAccountOptOut: boolean;
  readonly plainAccountSettingsAtRest: AtRest;
  readonly plainAccountCredentialsAtRest: AtRest;
}

interface KeylessRules {
  readonly accountsEnabled: boolean;
  readonly oauth: {
    readonly enabled: boolean;
    /** Empty = none. */
    readonly providers: readonly string[];
    /** True if the first login creates the account. */
    readonly autoProvision: boolean;
  };
}

export interface MtlsRules extends CertificateRules {
  readonly enabled: boolean;
  readonly mode: 'forwarded' | 'direct';
  readonly autoProvision: boolean;
  readonly trustForwardedHeaders: boolean;
  /** Addresses and CIDR ranges. Empty = no proxy is trusted. */
  readonly trustedProxies: readonly string[];
}

export interface OperatorPolicy {
  readonly http: {
    /** The address that the server listens on. */
    readonly host: string;
    readonly publicUrl: string | null;
    /** `certPath` null = plain HTTP. */
    readonly tls: { readonly certPath: string | null };
    readonly trustedProxies: readonly string[];
  };
  readonly auth: AccessRules;
  readonly encryption: EncryptionRules;
  /** `enabled` null = on where accounts can have keys. */
  readonly answers: { readonly enabled: boolean | null };
  readonly keyless: KeylessRules;
  readonly mtls: MtlsRules;
  readonly providers: readonly ProviderRules[];
  /** Backends that accept tokens of this server. Empty = none. */
  readonly resourceServers: readonly ResourceServer[];
  readonly ui: {
    readonly autoRedirect: { readonly enabled: boolean; readonly providerId: string | null };
  };
}
