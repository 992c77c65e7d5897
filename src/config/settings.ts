import type { AccountMode, StoragePolicy } from '../policy/storage-policy.js';

/** DI token of the resolved, readonly {@link Settings}. */
export const SETTINGS = Symbol('Settings');

/** How plain content is kept in the database. */
export type AtRest = 'server_sealed' | 'none';

export type UpdatesTransport = 'websocket' | 'polling';

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

export interface HttpSettings {
  readonly host: string;
  readonly port: number;
  /** The address clients use, without a trailing slash; null when it was not given. */
  readonly publicUrl: string | null;
  /** Peers whose `X-Forwarded-For` is believed, as CIDRs or addresses. Empty = nobody. */
  readonly trustedProxies: readonly string[];
  /** Origins browsers may call from. `['*']` = any (bearer tokens are not ambient credentials). */
  readonly corsOrigins: readonly string[];
  readonly bodyLimitBytes: number;
  /** Time for a whole request to arrive. */
  readonly requestTimeoutMs: number;
  readonly shutdownGraceMs: number;
  /** Time over which live connections are closed at the end. */
  readonly shutdownSpreadMs: number;
  readonly docsEnabled: boolean;
  /** Whether this server hosts the account page, which is also where browsers return by default. */
  readonly accountPageEnabled: boolean;
  readonly logLevel: LogLevel;
}

export interface StorageSettings {
  /** null = the embedded database under {@link dataDir}. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  /** Whether statements are prepared once per connection; the embedded database never does. */
  readonly preparedStatements: boolean;
  /** null only with the embedded database, which makes one and keeps it in {@link dataDir}. */
  readonly masterSecret: string | null;
  /** Older master secrets: they still open seals and verify tokens, and never make new ones. */
  readonly masterSecretsPrevious: readonly string[];
  readonly redisUrl: string | null;
}

export interface AuthSettings {
  readonly anonymousSignupEnabled: boolean;
  readonly signupProviders: readonly string[];
  readonly requiredLoginProviders: readonly string[];
  readonly keyChallengeEnabled: boolean;
  readonly requireServerChallenge: boolean;
  /** Origins at which clients reach this server, for its challenges. Empty = not known. */
  readonly loginOrigins: readonly string[];
  /** Whether logins through a provider may return to a program on the browser's computer. */
  readonly loopbackReturnEnabled: boolean;
  readonly tokenTtlSeconds: number;
  /** 0 = any live session counts as fresh. */
  readonly freshLoginMs: number;
  /** How long an account's access facts may be served from memory when no invalidation arrives. */
  readonly accessCacheMs: number;
  readonly offboarding: {
    readonly enabled: boolean;
    readonly intervalSeconds: number;
    readonly strict: boolean;
    /** Re-checks under way at one provider. */
    readonly concurrency: number;
    /** Re-checks begun a second at one provider; 0 = no limit. */
    readonly checksPerSecond: number;
  };
}

/** Requests (or handshakes) a minute; 0 = no limit. */
export interface RateLimitSettings {
  readonly perIp: number;
  readonly perAccount: number;
  readonly loginPerIp: number;
  readonly handshakePerIp: number;
}

export interface UpdatesSettings {
  readonly transports: readonly UpdatesTransport[];
  /** Live connections one process accepts. */
  readonly maxConnections: number;
  /** Live connections of one account on one process. */
  readonly maxConnectionsPerAccount: number;
  /** Connections of one process that have not authenticated yet. */
  readonly maxUnauthenticated: number;
  readonly maxUnauthenticatedPerIp: number;
}

export interface EncryptionSettings {
  readonly storagePolicy: StoragePolicy;
  readonly defaultAccountMode: AccountMode;
  readonly allowAccountOptOut: boolean;
  readonly plainAccountSettingsAtRest: AtRest;
  readonly plainAccountCredentialsAtRest: AtRest;
}

export interface KeylessSettings {
  readonly accountsEnabled: boolean;
  readonly oauth: {
    readonly enabled: boolean;
    readonly providers: readonly string[];
    readonly autoProvision: boolean;
  };
}

export type MtlsMode = 'forwarded' | 'direct';
export type MtlsIdentitySource = 'san_email' | 'san_upn' | 'subject_cn' | 'fingerprint';
export type MtlsForwardedPreset =
  | 'plain'
  | 'ingress-nginx'
  | 'envoy'
  | 'traefik'
  | 'haproxy'
  | 'aws-alb-verify'
  | 'aws-alb-passthrough'
  | 'rfc9440'
  | 'custom';

export interface MtlsSettings {
  readonly enabled: boolean;
  readonly mode: MtlsMode;
  readonly autoProvision: boolean;
  readonly identitySource: MtlsIdentitySource;
  readonly allowedEmailDomains: readonly string[];
  readonly allowedIssuers: readonly string[];
  readonly trustForwardedHeaders: boolean;
  readonly trustedProxies: readonly string[];
  readonly forwardedPreset: MtlsForwardedPreset;
  readonly forwardedHeaders: {
    readonly email: string;
    readonly upn: string;
    readonly subject: string;
    readonly fingerprint: string;
    readonly issuer: string;
  };
  /** Whether this server verifies what a proxy forwards, too. */
  readonly verifyForwarded: boolean;
  readonly xfccElement: 'only' | 'first';
  readonly custom: {
    readonly certificateHeader: string | null;
    readonly decoder: 'url-pem' | 'base64-der' | 'rfc9440' | 'xfcc' | 'pem-spaces';
    readonly verifyHeader: string | null;
    readonly verifyValue: string;
  };
  /** Where browsers are asked for certificates, without a trailing slash; null = where they are. */
  readonly publicUrl: string | null;
  readonly returnToAllowPrefixes: readonly string[];
  readonly claimTtlSeconds: number;
  readonly tlsPort: number | null;
  readonly tlsCertPath: string | null;
  readonly tlsKeyPath: string | null;
  readonly caPath: string | null;
  readonly crlPath: string | null;
}

export interface OAuthReturnSettings {
  readonly webappUrl: string | null;
  readonly returnUrlBase: string | null;
  /** Schemes beyond https (and http on a loopback host) that a return address may have. */
  readonly allowedSchemes: readonly string[];
}

export interface UiSettings {
  readonly autoRedirect: { readonly enabled: boolean; readonly providerId: string | null };
}

/** What every identity provider has, whatever its protocol. */
export interface ProviderPresentation {
  readonly id: string;
  readonly displayName: string;
  readonly ui: { readonly iconHint: string | null; readonly buttonColor: string | null };
}

export interface GitHubProviderSettings extends ProviderPresentation {
  readonly type: 'github';
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUrl: string | null;
  readonly baseUrl: string;
  readonly apiUrl: string;
  readonly allowedUsers: readonly string[];
  readonly allowedOrgs: readonly string[];
  readonly orgMatch: 'any' | 'all';
  readonly orgMembershipSource: 'github_app' | 'oauth_user_token';
  /** null = the webhook route is off. */
  readonly webhookSecret: string | null;
  readonly app: {
    readonly id: string;
    readonly privateKey: string;
    readonly installationIdByOrg: Readonly<Record<string, string>>;
  } | null;
}

export interface OidcProviderSettings extends ProviderPresentation {
  readonly type: 'oidc';
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUrl: string | null;
  readonly scopes: readonly string[];
  readonly prompt: 'login' | 'consent' | 'select_account' | null;
  readonly httpTimeoutSeconds: number;
  readonly claims: { readonly login: string; readonly email: string; readonly groups: string };
  readonly allow: {
    readonly usersAllowlist: readonly string[];
    readonly emailDomains: readonly string[];
    readonly groupsAny: readonly string[];
    readonly groupsAll: readonly string[];
  };
  readonly fetchUserInfo: boolean;
  readonly storeRefreshToken: boolean;
  /** Whose word for an e-mail address counts: a verified claim, or this issuer's anyway. */
  readonly emailVerification: 'required' | 'trustedIssuer';
  readonly formerIssuers: readonly string[];
  /** Groups that do not fit into the token are read from Microsoft Graph. */
  readonly entra: { readonly graph: boolean; readonly graphUrl: string | null };
}

export type ProviderSettings = GitHubProviderSettings | OidcProviderSettings;

/** Where /metrics is served; neither port nor token = nowhere. */
export interface MetricsSettings {
  /** null = on the server's own port, if there is a token. */
  readonly port: number | null;
  /** Address that `port` listens on. */
  readonly host: string;
  readonly token: string | null;
}

export interface AuditSettings {
  readonly retentionDays: number;
}

/** Everything an operator decided, parsed, defaulted and checked once at start. */
export interface Settings {
  readonly http: HttpSettings;
  readonly storage: StorageSettings;
  readonly auth: AuthSettings;
  readonly rateLimits: RateLimitSettings;
  readonly updates: UpdatesSettings;
  readonly encryption: EncryptionSettings;
  readonly keyless: KeylessSettings;
  readonly mtls: MtlsSettings;
  readonly oauthReturn: OAuthReturnSettings;
  readonly ui: UiSettings;
  readonly metrics: MetricsSettings;
  readonly audit: AuditSettings;
  readonly providers: readonly ProviderSettings[];
}
