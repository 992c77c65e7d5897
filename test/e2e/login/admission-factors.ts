import type { VariableName } from '../../../src/server/config/settings.js';
import type { VariableGroup } from '../../../src/server/config/environment/variable.js';
import { coveringArray, type Row } from './covering-array.js';

export const KEYLESS = 'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_';
export const MTLS = 'SERVICE_FEATURE_AUTH_MTLS__';
export const ENCRYPTION = 'SERVICE_FEATURE_ENCRYPTION__';
export const REDIRECT = 'SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_';

/** The variables that decide which methods exist, with the values that they are tried with. */
const METHODS = {
  AUTH_KEY_CHALLENGE_ENABLED: ['true', 'false'],
  AUTH_ANONYMOUS_SIGNUP_ENABLED: ['true', 'false'],
  AUTH_SIGNUP_INVITATIONS_ENABLED: ['true', 'false'],
  AUTH_SIGNUP_PROVIDERS: ['', 'okta'],
  AUTH_REQUIRED_LOGIN_PROVIDERS: ['', 'okta', 'mtls'],
  AUTH_REQUIRE_SERVER_CHALLENGE: ['true', 'false'],
  AUTH_OFFBOARDING_ENABLED: ['', 'true', 'false'],
  AUTH_OFFBOARDING_STRICT: ['true', 'false'],
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: ['0', '1'],
  [`${ENCRYPTION}STORAGE_POLICY`]: ['required_e2ee', 'optional', 'plaintext_only'],
  [`${ENCRYPTION}DEFAULT_ACCOUNT_MODE`]: ['e2ee', 'plain'],
  [`${ENCRYPTION}ALLOW_ACCOUNT_OPTOUT`]: ['0', '1'],
  [`${KEYLESS}ENABLED`]: ['0', '1'],
  [`${KEYLESS}PROVIDERS`]: ['', 'okta', 'ghost'],
  [`${KEYLESS}AUTO_PROVISION`]: ['0', '1'],
  [`${MTLS}ENABLED`]: ['0', '1'],
  [`${MTLS}AUTO_PROVISION`]: ['0', '1'],
  [`${MTLS}TRUST_FORWARDED_HEADERS`]: ['0', '1'],
  [`${REDIRECT}ENABLED`]: ['0', '1'],
  [`${REDIRECT}PROVIDER_ID`]: ['', 'okta', 'mtls'],
  /** The provider `okta` is missing, without rules, with rules, or without a return address. */
  AUTH_PROVIDERS_CONFIG_JSON: ['none', 'open', 'restricted', 'unreturnable'],
};

/** Variables that select valid certificates, where logins with certificates are enabled. */
const CERTIFICATES = {
  AUTH_KEY_CHALLENGE_ENABLED: ['true', 'false'],
  AUTH_REQUIRED_LOGIN_PROVIDERS: ['', 'mtls'],
  [`${ENCRYPTION}STORAGE_POLICY`]: ['optional', 'plaintext_only'],
  [`${MTLS}AUTO_PROVISION`]: ['0', '1'],
  [`${MTLS}IDENTITY_SOURCE`]: ['san_email', 'san_upn', 'subject_cn', 'fingerprint'],
  [`${MTLS}ALLOWED_EMAIL_DOMAINS`]: ['', 'corp.example'],
  [`${MTLS}ALLOWED_ISSUERS`]: ['', 'Corp CA'],
};

export const FACTORS: readonly string[] = Object.keys({ ...METHODS, ...CERTIFICATES });

/** A server on which every account of the tests can be created. */
export const OPEN: Row = {
  ...Object.fromEntries(FACTORS.map((name) => [name, ''])),
  SERVICE_FEATURE_E2EE__KEYLESS_ACCOUNTS_ENABLED: '1',
  [`${ENCRYPTION}STORAGE_POLICY`]: 'optional',
  [`${KEYLESS}ENABLED`]: '1',
  [`${KEYLESS}PROVIDERS`]: 'okta',
  [`${KEYLESS}AUTO_PROVISION`]: '1',
  [`${MTLS}ENABLED`]: '1',
  [`${MTLS}AUTO_PROVISION`]: '1',
  [`${MTLS}TRUST_FORWARDED_HEADERS`]: '1',
  AUTH_PROVIDERS_CONFIG_JSON: 'open',
};

/** The server does not start with some rows (`src/server/config/check-settings.ts`). */
function canStart(row: Row): boolean {
  const has = (name: string, ...values: string[]): boolean => values.includes(row[name] ?? '');
  const requiresAbsent =
    has('AUTH_REQUIRED_LOGIN_PROVIDERS', 'mtls') &&
    (has(`${MTLS}ENABLED`, '0') || has(`${MTLS}TRUST_FORWARDED_HEADERS`, '0'));
  const redirectsNowhere = has(`${REDIRECT}ENABLED`, '1') && has(`${REDIRECT}PROVIDER_ID`, '');
  const hasDomainOfNone =
    has(`${MTLS}IDENTITY_SOURCE`, 'subject_cn', 'fingerprint') &&
    has(`${MTLS}ALLOWED_EMAIL_DOMAINS`, 'corp.example');
  return !requiresAbsent && !redirectsNowhere && !hasDomainOfNone;
}

/** Settings that admit every certificate by its e-mail address. */
const WITHOUT_RULES: Row = Object.fromEntries(Object.keys(CERTIFICATES).map((name) => [name, '']));

/** The configurations: each gives a value to every factor. */
export const ROWS: readonly Row[] = [
  ...coveringArray(METHODS, 1, canStart).map((row) => ({ ...WITHOUT_RULES, ...row })),
  ...coveringArray(CERTIFICATES, 1, canStart).map((row) => ({ ...OPEN, ...row })),
];

export const GROUPS: Readonly<Record<VariableGroup, string>> = {
  'Sign-up and login': 'policy',
  Offboarding: 'policy',
  Encryption: 'policy',
  'Keyless accounts': 'policy',
  'OAuth return address': 'policy',
  'Client hints': 'policy',
  'Identity providers': 'policy',
  'Client certificates (mTLS)': 'policy',
  GitHub: 'one more provider, and every provider has the same entries: external-github',
  'Account page': 'what the page shows',
  Server: 'how the server listens',
  Network: 'how it reaches others',
  Storage: 'where data is kept',
  'Requests and answers': 'what accounts may ask of their people: requests',
  Limits: 'how often callers may ask',
  'Live updates': 'how many connections there may be',
  'Metrics and audit': 'what operators read',
  Administration: 'another port, with accounts of its own',
  'Resource servers': 'who else accepts tokens',
};

/** Variables of the policy's groups that change no entry, by the reason. */
export const OTHERS: readonly (readonly [reason: string, names: readonly VariableName[]])[] = [
  [
    'how long something lasts or how often it happens',
    [
      'AUTH_TOKEN_TTL_SECONDS',
      'AUTH_FRESH_LOGIN_SECONDS',
      'AUTH_ACCESS_CACHE_SECONDS',
      'AUTH_OFFBOARDING_INTERVAL_SECONDS',
      'AUTH_OFFBOARDING_CONCURRENCY',
      'AUTH_OFFBOARDING_CHECKS_PER_SECOND',
      'SERVICE_FEATURE_AUTH_MTLS__CLAIM_TTL_SECONDS',
      'SERVICE_FEATURE_AUTH_MTLS__TOKEN_TTL_SECONDS',
    ],
  ],
  [
    'how content is stored: encryption-matrix',
    [
      'SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_SETTINGS_AT_REST',
      'SERVICE_FEATURE_ENCRYPTION__PLAIN_ACCOUNT_CREDENTIALS_AT_REST',
    ],
  ],
  [
    'addresses that browsers and clients use; that there is none is the provider "unreturnable"',
    [
      'SERVICE_LOGIN_ORIGINS',
      'AUTH_LOOPBACK_RETURN_ENABLED',
      'SERVICE_WEBAPP_URL',
      'SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE',
      'SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES',
      'SERVICE_FEATURE_AUTH_MTLS__PUBLIC_URL',
      'SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES',
    ],
  ],
  [
    'the same rules in a file: changed-rules',
    ['AUTH_PROVIDERS_CONFIG_PATH', 'SERVICE_FEATURE_AUTH_MTLS__RULES_PATH'],
  ],
  [
    'a proxy that is not listed is like headers that are not trusted: mtls-forwarded',
    ['SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES'],
  ],
  [
    'how a certificate arrives: mtls-direct and mtls-proxies',
    [
      'SERVICE_FEATURE_AUTH_MTLS__MODE',
      'SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET',
      'SERVICE_FEATURE_AUTH_MTLS__FORWARDED_XFCC_ELEMENT',
      'SERVICE_FEATURE_AUTH_MTLS__CUSTOM_CERTIFICATE_HEADER',
      'SERVICE_FEATURE_AUTH_MTLS__CUSTOM_DECODER',
      'SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_HEADER',
      'SERVICE_FEATURE_AUTH_MTLS__CUSTOM_VERIFY_VALUE',
      'SERVICE_FEATURE_AUTH_MTLS__FORWARDED_EMAIL_HEADER',
      'SERVICE_FEATURE_AUTH_MTLS__FORWARDED_UPN_HEADER',
      'SERVICE_FEATURE_AUTH_MTLS__FORWARDED_SUBJECT_HEADER',
      'SERVICE_FEATURE_AUTH_MTLS__FORWARDED_FINGERPRINT_HEADER',
      'SERVICE_FEATURE_AUTH_MTLS__FORWARDED_ISSUER_HEADER',
      'SERVICE_FEATURE_AUTH_MTLS__TLS_PORT',
      'SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH',
      'SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH',
    ],
  ],
  [
    'whether a certificate is authentic and not revoked: mtls-chain and mtls-revocation',
    [
      'SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED',
      'SERVICE_FEATURE_AUTH_MTLS__CA_PATH',
      'SERVICE_FEATURE_AUTH_MTLS__CRL_PATH',
      'SERVICE_FEATURE_AUTH_MTLS__CRL_URLS',
      'SERVICE_FEATURE_AUTH_MTLS__CRL_FETCH_SECONDS',
      'SERVICE_FEATURE_AUTH_MTLS__CRL_MAX_AGE_SECONDS',
      'SERVICE_FEATURE_AUTH_MTLS__CRL_ALLOWED_HOSTS',
      'SERVICE_FEATURE_AUTH_MTLS__OCSP_ENABLED',
    ],
  ],
];
