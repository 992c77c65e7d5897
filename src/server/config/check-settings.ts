import { checkAdmin } from './admin.config.js';
import { checkLoginOrigins } from './auth.config.js';
import { checkBrand } from './brand.config.js';
import { checkReturnAddress } from './browser.config.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import { checkHttp } from './http.config.js';
import { checkMetrics } from './metrics.config.js';
import { RESERVED_PROVIDER_IDS } from './providers-file/provider-entry.js';
import type { ProviderSettings } from './providers-file/provider-settings.js';
import { isUnreadableIssuer } from './rules/certificate-rules.js';
import type { Values, VariableName } from './settings.js';
import { checkStorage } from './storage.config.js';

type Read = <Name extends VariableName>(name: Name) => Values[Name];
type When = (read: Read) => boolean;

interface VariableRule {
  readonly variable: VariableName;
  /** Completes the name of the variable to a sentence. */
  readonly message: string;
  readonly when: When;
}

const MTLS = 'SERVICE_FEATURE_AUTH_MTLS__ENABLED';
const MODE = 'SERVICE_FEATURE_AUTH_MTLS__MODE';
const TLS_PORT = 'SERVICE_FEATURE_AUTH_MTLS__TLS_PORT';
const CA_PATH = 'SERVICE_FEATURE_AUTH_MTLS__CA_PATH';
const PRESET = 'SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET';
const VERIFY = 'SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED';
const TRUSTS = 'SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS';
const PROXIES = 'SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES';
const OCSP = 'SERVICE_FEATURE_AUTH_MTLS__OCSP_ENABLED';
const CRL_URLS = 'SERVICE_FEATURE_AUTH_MTLS__CRL_URLS';
const CRL_HOSTS = 'SERVICE_FEATURE_AUTH_MTLS__CRL_ALLOWED_HOSTS';
const CUSTOM_HEADER = 'SERVICE_FEATURE_AUTH_MTLS__CUSTOM_CERTIFICATE_HEADER';
const DIRECT_FILES = [
  TLS_PORT,
  'SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH',
  'SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH',
  CA_PATH,
] as const;
const REQUIRED = 'AUTH_REQUIRED_LOGIN_PROVIDERS';
const REDIRECT = 'SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED';
const REDIRECT_TO = 'SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID';

const isDirect: When = (read) => read(MTLS) && read(MODE) === 'direct';
const isForwarded: When = (read) => read(MTLS) && read(MODE) === 'forwarded';
const isPlain: When = (read) => isForwarded(read) && read(PRESET) === 'plain';
const hasAdmin: When = (read) => read('ADMIN_PORT') !== null;
const hasAdminLogin: When = (read) => hasAdmin(read) && read('ADMIN_LOGIN_PROVIDER') !== null;
const OF_CERTIFICATE = 'needs a preset that forwards the certificate itself.';
const ADMIN_CALLERS = [
  'ADMIN_TOKENS_FILE',
  'ADMIN_TLS_CLIENT_CA_PATH',
  'ADMIN_LOGIN_PROVIDER',
] as const;

/** Runs the checks that need several variables. Each skips variables with a reported problem. */
export function checkSettings(
  values: Values,
  texts: ReadonlyMap<string, string>,
  providers: readonly ProviderSettings[],
  report: ConfigurationReport,
): void {
  checkRules(values, report);
  checkStorage(values, report);
  checkHttp(values, report);
  checkLoginOrigins(values, report);
  checkProviderLists(values, report);
  checkReturnAddress(values, providers, report);
  checkMetrics(values, report);
  checkBrand(values, report);
  checkMtls(values, texts, report);
  checkAdmin(values, providers, report);
}

/** `mtls` can be required, but it is not an OAuth provider and cannot be in the other lists. */
function checkProviderLists(values: Values, report: ConfigurationReport): void {
  const lists: [VariableName, readonly string[], readonly string[]][] = [
    ['AUTH_SIGNUP_PROVIDERS', values.AUTH_SIGNUP_PROVIDERS, RESERVED_PROVIDER_IDS],
    [
      'SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS',
      values.SERVICE_FEATURE_AUTH_OAUTH__KEYLESS_PROVIDERS,
      RESERVED_PROVIDER_IDS,
    ],
    [
      'AUTH_REQUIRED_LOGIN_PROVIDERS',
      values.AUTH_REQUIRED_LOGIN_PROVIDERS,
      RESERVED_PROVIDER_IDS.filter((id) => id !== 'mtls'),
    ],
  ];
  for (const [name, ids, refused] of lists) {
    const wrong = refused.filter((id) => ids.includes(id));
    if (wrong.length > 0) {
      report.problem(name, `must not name ${wrong.join(', ')}, which is not an identity provider.`);
    }
  }
}

const ISSUERS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS';

function checkMtls(
  values: Values,
  texts: ReadonlyMap<string, string>,
  report: ConfigurationReport,
): void {
  checkIssuers(texts.get(ISSUERS) ?? '', values, report);
  checkReturnPrefixes(values, report);
  const isUnsigned = values[CRL_URLS].some((url) => url.startsWith('http:'));
  if (values.SERVICE_FEATURE_AUTH_MTLS__ENABLED && isUnsigned && values[CA_PATH] === null) {
    report.problemOnce(
      CA_PATH,
      'is missing: a list fetched over http has to be signed by an authority.',
    );
  }
}

/** Without quotes a name is split at its commas, and its common name would allow other issuers. */
function checkIssuers(text: string, values: Values, report: ConfigurationReport): void {
  const unquoted = text.replace(/"[^"]*"/g, '');
  if (/,\s*[A-Za-z][A-Za-z0-9.]*\s*=/.test(unquoted)) {
    const advice = 'must have each distinguished name in double quotes, as it has commas.';
    report.problemOnce(ISSUERS, advice);
  }
  if (values[ISSUERS].some(isUnreadableIssuer)) {
    const example = '"CN=Acme Issuing CA,O=Acme,C=CZ" (RFC 4514)';
    report.problemOnce(ISSUERS, `must have names such as ${example}.`);
  }
}

/** Prefixes are compared by origin and path. Schemes that run code are refused. */
function checkReturnPrefixes(values: Values, report: ConfigurationReport): void {
  const name = 'SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES';
  const unsafe = values[name].some(
    (prefix) => !URL.canParse(prefix) || /^(javascript|data|file|vbscript|blob):/i.test(prefix),
  );
  if (unsafe) {
    report.problem(name, 'must have full addresses whose scheme runs no code and reads no file.');
  }
}

/** Values that contradict each other. */
const VARIABLE_RULES: readonly VariableRule[] = [
  ...ports(),
  ...pair('SERVICE_TLS_CERT_PATH', 'SERVICE_TLS_KEY_PATH'),
  ...pair('ADMIN_TLS_CERT_PATH', 'ADMIN_TLS_KEY_PATH', hasAdmin),
  {
    variable: 'ADMIN_TLS_CERT_PATH',
    message: 'is missing: client certificates need TLS.',
    when: (read) =>
      hasAdmin(read) &&
      read('ADMIN_TLS_CLIENT_CA_PATH') !== null &&
      read('ADMIN_TLS_CERT_PATH') === null,
  },
  {
    variable: 'ADMIN_PORT',
    message: `admits no caller: set one of ${ADMIN_CALLERS.join(', ')}.`,
    when: (read) => hasAdmin(read) && ADMIN_CALLERS.every((name) => read(name) === null),
  },
  {
    variable: 'ADMIN_LOGIN_PROVIDER',
    message: 'admits no administrator: set ADMIN_LOGIN_READ_GROUPS or ADMIN_LOGIN_OPERATE_GROUPS.',
    when: (read) =>
      hasAdminLogin(read) &&
      read('ADMIN_LOGIN_READ_GROUPS').length === 0 &&
      read('ADMIN_LOGIN_OPERATE_GROUPS').length === 0,
  },
  missing('ADMIN_PUBLIC_URL', hasAdminLogin, 'the provider returns browsers to it'),
  {
    variable: 'SERVICE_MASTER_SECRET',
    message: 'is required with DATABASE_URL; make one with: openssl rand -base64 48',
    when: (read) => read('DATABASE_URL') !== null && read('SERVICE_MASTER_SECRET') === null,
  },
  ...redis(),
  ...certificates(),
  ...revocation(),
  {
    variable: REDIRECT_TO,
    message: 'is missing although the automatic redirect is on.',
    when: (read) => read(REDIRECT) && read(REDIRECT_TO) === null,
  },
];

function ports(): VariableRule[] {
  return [
    {
      variable: 'METRICS_PORT',
      message: 'must not be the same as PORT.',
      when: (read) => isTaken(read('METRICS_PORT'), read('PORT')),
    },
    {
      variable: 'ADMIN_PORT',
      message: 'must not be the same as PORT or METRICS_PORT.',
      when: (read) => isTaken(read('ADMIN_PORT'), read('PORT'), read('METRICS_PORT')),
    },
    {
      variable: TLS_PORT,
      message: 'must not be the same as PORT, METRICS_PORT or ADMIN_PORT.',
      when: (read) =>
        isDirect(read) &&
        isTaken(read(TLS_PORT), read('PORT'), read('METRICS_PORT'), read('ADMIN_PORT')),
    },
  ];
}

/** 0 takes any free port. */
function isTaken(port: number | null, ...others: readonly (number | null)[]): boolean {
  return port !== null && port !== 0 && others.includes(port);
}

function redis(): VariableRule[] {
  return [
    {
      variable: 'REDIS_CLUSTER_NODES',
      message:
        'must not be set together with REDIS_SENTINELS or REDIS_SENTINEL_PASSWORD: a Redis Cluster has no Sentinels.',
      when: (read) =>
        read('REDIS_CLUSTER_NODES').length > 0 &&
        (read('REDIS_SENTINELS').length > 0 || read('REDIS_SENTINEL_PASSWORD') !== null),
    },
    {
      variable: 'REDIS_URL',
      message:
        'is missing although REDIS_CLUSTER_NODES is set: it names a node, and has the scheme and the password of all.',
      when: (read) => read('REDIS_CLUSTER_NODES').length > 0 && read('REDIS_URL') === null,
    },
    {
      variable: 'REDIS_URL',
      message: 'is missing although REDIS_SENTINELS is set: its host is the name of the primary.',
      when: (read) => read('REDIS_SENTINELS').length > 0 && read('REDIS_URL') === null,
    },
  ];
}

function certificates(): VariableRule[] {
  const isRequired: When = (read) => read(REQUIRED).includes('mtls');
  return [
    // If no certificate can be connected, every account would be refused.
    {
      variable: REQUIRED,
      message: `must not name mtls without ${MTLS}: no certificate could be connected.`,
      when: (read) => isRequired(read) && !read(MTLS),
    },
    {
      variable: REQUIRED,
      message: `must not name mtls while no proxy may forward a certificate: set ${TRUSTS} and ${PROXIES}.`,
      when: (read) =>
        isRequired(read) && isForwarded(read) && !(read(TRUSTS) && read(PROXIES).length > 0),
    },
    { variable: VERIFY, message: OF_CERTIFICATE, when: (read) => isPlain(read) && read(VERIFY) },
    ...DIRECT_FILES.map((name) =>
      missing(name, isDirect, 'this server verifies the certificates itself in mode direct'),
    ),
    missing(
      CA_PATH,
      (read) => isForwarded(read) && read(PRESET) === 'aws-alb-passthrough',
      'the load balancer verifies nothing in pass-through mode',
    ),
    missing(
      CUSTOM_HEADER,
      (read) => isForwarded(read) && read(PRESET) === 'custom',
      'the preset custom reads the header that you name',
    ),
    missing(
      CA_PATH,
      (read) => isForwarded(read) && read(VERIFY),
      'forwarded certificates are to be verified',
    ),
  ];
}

/** Revocation needs the certificate itself, and the key of its authority. */
function revocation(): VariableRule[] {
  const asksOcsp: When = (read) => read(MTLS) && read(OCSP);
  return [
    missing(CA_PATH, asksOcsp, 'OCSP answers are signed by an authority'),
    missing(CRL_HOSTS, asksOcsp, 'OCSP responders are asked at these hosts only'),
    { variable: OCSP, message: OF_CERTIFICATE, when: (read) => isPlain(read) && read(OCSP) },
    {
      variable: CRL_URLS,
      message: OF_CERTIFICATE,
      when: (read) => isPlain(read) && read(CRL_URLS).length > 0,
    },
    {
      variable: CRL_HOSTS,
      message: OF_CERTIFICATE,
      when: (read) => isPlain(read) && read(CRL_HOSTS).length > 0,
    },
  ];
}

function missing(variable: VariableName, isNeeded: When, why: string): VariableRule {
  return {
    variable,
    message: `is missing: ${why}.`,
    when: (read) => isNeeded(read) && !isSet(read(variable)),
  };
}

function isSet(value: Values[VariableName]): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== null;
}

/** Certificate and key, of which either is useless alone. */
function pair(
  cert: VariableName,
  key: VariableName,
  isUsed: When = () => true,
): readonly VariableRule[] {
  const rule = (variable: VariableName, other: VariableName): VariableRule => ({
    variable,
    message: `is missing, but required with ${other}.`,
    when: (read) => isUsed(read) && read(other) !== null && read(variable) === null,
  });
  return [rule(cert, key), rule(key, cert)];
}

/** Skips rules that read a variable with a problem: its value is a default. */
function checkRules(values: Values, report: ConfigurationReport): void {
  const wrong = new Set(report.problems.map(({ variable }) => variable.replace(/_FILE$/, '')));
  for (const { variable, message, when } of VARIABLE_RULES) {
    let isKnown = true;
    const read: Read = (name) => {
      isKnown &&= !wrong.has(name);
      return values[name];
    };
    if (when(read) && isKnown) {
      report.problemOnce(variable, message);
    }
  }
}
