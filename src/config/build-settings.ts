import type { Values } from './env.js';
import { loginOrigins } from './login-origins.js';
import type {
  AuthSettings,
  EncryptionSettings,
  HttpSettings,
  KeylessSettings,
  MetricsSettings,
  MtlsSettings,
  ProviderSettings,
  Settings,
  StorageSettings,
} from './settings.js';

const LOOPBACK = '127.0.0.1';

/** Gathers checked values into the settings; nothing is judged here any more. */
export function buildSettings(values: Values, providers: readonly ProviderSettings[]): Settings {
  return {
    http: httpSettings(values),
    storage: storageSettings(values),
    auth: authSettings(values, providers),
    rateLimits: {
      perIp: values.SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE,
      perAccount: values.SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE,
      loginPerIp: values.AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE,
      handshakePerIp: values.SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE,
    },
    updates: {
      transports: values.SERVICE_UPDATES_TRANSPORTS,
      maxConnections: values.SERVICE_UPDATES_MAX_CONNECTIONS,
      maxConnectionsPerAccount: values.SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT,
      maxUnauthenticated: values.SERVICE_UPDATES_MAX_UNAUTHENTICATED,
      maxUnauthenticatedPerIp: values.SERVICE_UPDATES_MAX_UNAUTHENTICATED_PER_IP,
    },
    encryption: encryptionSettings(values),
    keyless: keylessSettings(values),
    mtls: mtlsSettings(values),
    oauthReturn: {
      webappUrl: withoutTrailingSlash(values.SERVICE_WEBAPP_URL),
      returnUrlBase: withoutTrailingSlash(values.SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE),
      allowedSchemes: values.SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES,
    },
    ui: {
      autoRedirect: {
        enabled: values.SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED,
        providerId: values.SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID,
      },
    },
    metrics: metricsSettings(values),
    audit: { retentionDays: values.SERVICE_AUDIT_RETENTION_DAYS },
    providers,
  };
}

/** `myapp://` keeps its slashes: they belong to the scheme. */
export function withoutTrailingSlash(address: string | null): string | null {
  return address === null ? null : address.replace(/(?<![:/])\/+$/, '');
}

function metricsSettings(values: Values): MetricsSettings {
  const { METRICS_HOST: host, METRICS_PORT: port, METRICS_TOKEN: token } = values;
  return { port, host: host ?? (token === null ? LOOPBACK : values.HOST), token };
}

function httpSettings(values: Values): HttpSettings {
  return {
    host: values.HOST,
    port: values.PORT,
    publicUrl: withoutTrailingSlash(values.SERVICE_PUBLIC_URL),
    trustedProxies: values.SERVICE_TRUSTED_PROXIES,
    corsOrigins: values.SERVICE_CORS_ORIGINS,
    bodyLimitBytes: values.SERVICE_BODY_LIMIT_BYTES,
    requestTimeoutMs: values.SERVICE_REQUEST_TIMEOUT_SECONDS * 1000,
    shutdownGraceMs: values.SERVICE_SHUTDOWN_GRACE_SECONDS * 1000,
    shutdownSpreadMs: values.SERVICE_SHUTDOWN_SPREAD_SECONDS * 1000,
    docsEnabled: values.SERVICE_DOCS_ENABLED,
    accountPageEnabled: hostsAccountPage(values),
    logLevel: values.SERVICE_LOG_LEVEL,
  };
}

/** Where another web app takes what browsers bring back, this page could finish no login. */
function hostsAccountPage(values: Values): boolean {
  const { SERVICE_WEBAPP_URL: webappUrl, SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: base } = values;
  return values.SERVICE_ACCOUNT_PAGE_ENABLED && webappUrl === null && base === null;
}

function storageSettings(values: Values): StorageSettings {
  return {
    databaseUrl: values.DATABASE_URL,
    dataDir: values.SERVICE_DATA_DIR,
    poolSize: values.SERVICE_DATABASE_POOL_SIZE,
    connectTimeoutMs: values.SERVICE_DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: values.SERVICE_DATABASE_STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: values.SERVICE_DATABASE_LOCK_TIMEOUT_MS,
    preparedStatements: values.SERVICE_DATABASE_PREPARED_STATEMENTS,
    masterSecret: values.SERVICE_MASTER_SECRET,
    masterSecretsPrevious: values.SERVICE_MASTER_SECRET_PREVIOUS,
    redisUrl: values.REDIS_URL,
  };
}

function authSettings(values: Values, providers: readonly ProviderSettings[]): AuthSettings {
  return {
    anonymousSignupEnabled: values.AUTH_ANONYMOUS_SIGNUP_ENABLED,
    signupProviders: values.AUTH_SIGNUP_PROVIDERS,
    requiredLoginProviders: values.AUTH_REQUIRED_LOGIN_PROVIDERS,
    keyChallengeEnabled: values.AUTH_KEY_CHALLENGE_ENABLED,
    requireServerChallenge: values.AUTH_REQUIRE_SERVER_CHALLENGE,
    loginOrigins: loginOrigins(values),
    loopbackReturnEnabled: values.AUTH_LOOPBACK_RETURN_ENABLED,
    tokenTtlSeconds: values.AUTH_TOKEN_TTL_SECONDS,
    freshLoginMs: values.AUTH_FRESH_LOGIN_SECONDS * 1000,
    accessCacheMs: values.AUTH_ACCESS_CACHE_SECONDS * 1000,
    offboarding: {
      enabled: values.AUTH_OFFBOARDING_ENABLED ?? providers.some(hasMembershipRules),
      intervalSeconds: values.AUTH_OFFBOARDING_INTERVAL_SECONDS,
      strict: values.AUTH_OFFBOARDING_STRICT,
      concurrency: values.AUTH_OFFBOARDING_CONCURRENCY,
      checksPerSecond: values.AUTH_OFFBOARDING_CHECKS_PER_SECOND,
    },
  };
}

/** Membership rules are the organisation allowlist and the OIDC allow rules, not GitHub logins. */
function hasMembershipRules(provider: ProviderSettings): boolean {
  return provider.type === 'github'
    ? provider.allowedOrgs.length > 0
    : Object.values(provider.allow).some((rule) => rule.length > 0);
}

function encryptionSettings(values: Values): EncryptionSettings {
  return {
    storagePolicy: values.SERVICE_FEATURE_ENCRYPTION__STORAGE_POLICY,
    defaultAccountMode: values.SERVICE_FEATURE_ENCRYPTION__DEFAULT_ACCOUNT_MODE,
    allowAccountOptOut: values.SERVICE_FEATURE_ENCRYPTION__ALLOW_ACCOUNT_OPTOUT,
    plainAccountSettingsAtRest: values.SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST,
    plainAccountCredentialsAtRest:
      values.SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_CREDENTIALS_AT_REST,
  };
}

function keylessSettings(values: Values): KeylessSettings {
  return {
    accountsEnabled: values.SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED,
    oauth: {
      enabled: values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_ENABLED,
      providers: values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS,
      autoProvision: values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_AUTO_PROVISION,
    },
  };
}

function mtlsSettings(values: Values): MtlsSettings {
  return {
    enabled: values.SERVICE_FEATURE_AUTH_MTLS__ENABLED,
    mode: values.SERVICE_FEATURE_AUTH_MTLS__MODE,
    autoProvision: values.SERVICE_FEATURE_AUTH_MTLS__AUTO_PROVISION,
    identitySource: values.SERVICE_FEATURE_AUTH_MTLS__IDENTITY_SOURCE,
    allowedEmailDomains: values.SERVICE_FEATURE_AUTH_MTLS__ALLOWED_EMAIL_DOMAINS,
    allowedIssuers: values.SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS,
    trustForwardedHeaders: values.SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS,
    trustedProxies: values.SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES,
    forwardedPreset: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET,
    forwardedHeaders: {
      email: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_EMAIL_HEADER.toLowerCase(),
      upn: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_UPN_HEADER.toLowerCase(),
      subject: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_SUBJECT_HEADER.toLowerCase(),
      fingerprint: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_FINGERPRINT_HEADER.toLowerCase(),
      issuer: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_ISSUER_HEADER.toLowerCase(),
    },
    verifyForwarded: values.SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED,
    xfccElement: values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_XFCC_ELEMENT,
    custom: {
      certificateHeader: lowerCase(values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_CERTIFICATE_HEADER),
      decoder: values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_DECODER,
      verifyHeader: lowerCase(values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_HEADER),
      verifyValue: values.SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_VALUE,
    },
    publicUrl: values.SERVICE_FEATURE_AUTH_MTLS__PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    returnToAllowPrefixes: returnToPrefixes(values),
    claimTtlSeconds: values.SERVICE_FEATURE_AUTH_MTLS__CLAIM_TTL_SECONDS,
    tlsPort: values.SERVICE_FEATURE_AUTH_MTLS__TLS_PORT,
    tlsCertPath: values.SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH,
    tlsKeyPath: values.SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH,
    caPath: values.SERVICE_FEATURE_AUTH_MTLS__CA_PATH,
    crlPath: values.SERVICE_FEATURE_AUTH_MTLS__CRL_PATH,
  };
}

/** With the account page where this server hosts it: a code that comes there stays here. */
function returnToPrefixes(values: Values): readonly string[] {
  const prefixes = values.SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES;
  const publicUrl = withoutTrailingSlash(values.SERVICE_PUBLIC_URL);
  return publicUrl !== null && hostsAccountPage(values)
    ? [...prefixes, `${publicUrl}/app`]
    : prefixes;
}

function lowerCase(name: string | null): string | null {
  return name?.toLowerCase() ?? null;
}
