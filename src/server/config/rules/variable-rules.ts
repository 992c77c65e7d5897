import {
  holds,
  namesIn,
  type Condition,
  type Value,
} from '../../../core/policy/findings/condition.js';
import type { ConfigurationReport } from '../environment/configuration-error.js';

type When = Condition;

interface VariableRule {
  readonly variable: string;
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
const REQUIRED = 'AUTH_REQUIRED_LOGIN_PROVIDERS';
const REDIRECT = 'SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED';
const REDIRECT_TO = 'SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID';

const all = (...parts: When[]): When => ({ all: parts });
const any = (...parts: When[]): When => ({ any: parts });
const not = (part: When): When => ({ not: part });
const set = (name: string): When => ({ set: name });
const on = (name: string): When => ({ on: name });

const IS_DIRECT = all(on(MTLS), { is: [MODE, 'direct'] });
const IS_FORWARDED = all(on(MTLS), { is: [MODE, 'forwarded'] });
const IS_PLAIN = all(IS_FORWARDED, { is: [PRESET, 'plain'] });
const HAS_ADMIN = set('ADMIN_PORT');
const OF_CERTIFICATE = 'needs a preset that forwards the certificate itself.';
const ADMIN_CALLERS = [
  'ADMIN_TOKENS_FILE',
  'ADMIN_TLS_CLIENT_CA_PATH',
  'ADMIN_LOGIN_PROVIDER',
] as const;

/**
 * Values that contradict each other. The chart evaluates the rows too (gatehouse/files/rules.json).
 */
export const VARIABLE_RULES: readonly VariableRule[] = [
  ...ports(),
  ...pair('SERVICE_TLS_CERT_PATH', 'SERVICE_TLS_KEY_PATH'),
  ...pair('ADMIN_TLS_CERT_PATH', 'ADMIN_TLS_KEY_PATH', HAS_ADMIN),
  {
    variable: 'ADMIN_TLS_CERT_PATH',
    message: 'is missing: client certificates need TLS.',
    when: all(HAS_ADMIN, set('ADMIN_TLS_CLIENT_CA_PATH'), not(set('ADMIN_TLS_CERT_PATH'))),
  },
  {
    variable: 'ADMIN_PORT',
    message: `admits no caller: set one of ${ADMIN_CALLERS.join(', ')}.`,
    when: all(HAS_ADMIN, ...ADMIN_CALLERS.map((name) => not(set(name)))),
  },
  {
    variable: 'ADMIN_LOGIN_PROVIDER',
    message: 'admits no administrator: set ADMIN_LOGIN_READ_GROUPS or ADMIN_LOGIN_OPERATE_GROUPS.',
    when: all(
      HAS_ADMIN,
      set('ADMIN_LOGIN_PROVIDER'),
      not(set('ADMIN_LOGIN_READ_GROUPS')),
      not(set('ADMIN_LOGIN_OPERATE_GROUPS')),
    ),
  },
  missing(
    'ADMIN_PUBLIC_URL',
    all(HAS_ADMIN, set('ADMIN_LOGIN_PROVIDER')),
    'the provider returns browsers to it',
  ),
  {
    variable: 'SERVICE_MASTER_SECRET',
    message: 'is required with DATABASE_URL; make one with: openssl rand -base64 48',
    when: all(set('DATABASE_URL'), not(set('SERVICE_MASTER_SECRET'))),
  },
  ...redis(),
  ...certificates(),
  ...revocation(),
  {
    variable: REDIRECT_TO,
    message: 'is missing although the automatic redirect is on.',
    when: all(on(REDIRECT), not(set(REDIRECT_TO))),
  },
];

function ports(): VariableRule[] {
  return [
    {
      variable: 'METRICS_PORT',
      message: 'must not be the same as PORT.',
      when: { samePort: ['METRICS_PORT', 'PORT'] },
    },
    {
      variable: 'ADMIN_PORT',
      message: 'must not be the same as PORT or METRICS_PORT.',
      when: any({ samePort: ['ADMIN_PORT', 'PORT'] }, { samePort: ['ADMIN_PORT', 'METRICS_PORT'] }),
    },
    {
      variable: TLS_PORT,
      message: 'must not be the same as PORT, METRICS_PORT or ADMIN_PORT.',
      when: all(
        IS_DIRECT,
        any(
          { samePort: [TLS_PORT, 'PORT'] },
          { samePort: [TLS_PORT, 'METRICS_PORT'] },
          { samePort: [TLS_PORT, 'ADMIN_PORT'] },
        ),
      ),
    },
  ];
}

function redis(): VariableRule[] {
  return [
    {
      variable: 'REDIS_CLUSTER_NODES',
      message:
        'must not be set together with REDIS_SENTINELS or REDIS_SENTINEL_PASSWORD: a Redis Cluster has no Sentinels.',
      when: all(
        set('REDIS_CLUSTER_NODES'),
        any(set('REDIS_SENTINELS'), set('REDIS_SENTINEL_PASSWORD')),
      ),
    },
    {
      variable: 'REDIS_URL',
      message:
        'is missing although REDIS_CLUSTER_NODES is set: it names a node, and has the scheme and the password of all.',
      when: all(set('REDIS_CLUSTER_NODES'), not(set('REDIS_URL'))),
    },
    {
      variable: 'REDIS_URL',
      message: 'is missing although REDIS_SENTINELS is set: its host is the name of the primary.',
      when: all(set('REDIS_SENTINELS'), not(set('REDIS_URL'))),
    },
  ];
}

function certificates(): VariableRule[] {
  const directFiles = [
    TLS_PORT,
    'SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH',
    'SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH',
    CA_PATH,
  ] as const;
  return [
    // If no certificate can be connected, every account would be refused.
    {
      variable: REQUIRED,
      message: `must not name mtls without ${MTLS}: no certificate could be connected.`,
      when: all({ lists: [REQUIRED, 'mtls'] }, not(on(MTLS))),
    },
    {
      variable: REQUIRED,
      message: `must not name mtls while no proxy may forward a certificate: set ${TRUSTS} and ${PROXIES}.`,
      when: all(
        { lists: [REQUIRED, 'mtls'] },
        IS_FORWARDED,
        any(not(on(TRUSTS)), not(set(PROXIES))),
      ),
    },
    ...directFiles.map((name) =>
      missing(name, IS_DIRECT, 'this server verifies the certificates itself in mode direct'),
    ),
    missing(
      CA_PATH,
      all(IS_FORWARDED, { is: [PRESET, 'aws-alb-passthrough'] }),
      'the load balancer verifies nothing in pass-through mode',
    ),
    missing(
      CUSTOM_HEADER,
      all(IS_FORWARDED, { is: [PRESET, 'custom'] }),
      'the preset custom reads the header that you name',
    ),
    missing(CA_PATH, all(IS_FORWARDED, on(VERIFY)), 'forwarded certificates are to be verified'),
    { variable: VERIFY, message: OF_CERTIFICATE, when: all(IS_PLAIN, on(VERIFY)) },
  ];
}

/** Revocation needs the certificate itself, and the key of its authority. */
function revocation(): VariableRule[] {
  return [
    missing(CA_PATH, all(on(MTLS), on(OCSP)), 'OCSP answers are signed by an authority'),
    missing(CRL_HOSTS, all(on(MTLS), on(OCSP)), 'OCSP responders are asked at these hosts only'),
    { variable: OCSP, message: OF_CERTIFICATE, when: all(IS_PLAIN, on(OCSP)) },
    { variable: CRL_URLS, message: OF_CERTIFICATE, when: all(IS_PLAIN, set(CRL_URLS)) },
    { variable: CRL_HOSTS, message: OF_CERTIFICATE, when: all(IS_PLAIN, set(CRL_HOSTS)) },
  ];
}

function missing(variable: string, needed: When, why: string): VariableRule {
  return {
    variable,
    message: `is missing: ${why}.`,
    when: all(needed, not(set(variable))),
  };
}

/** Certificate and key, of which either is useless alone. */
function pair(cert: string, key: string, ...when: When[]): VariableRule[] {
  const rule = (variable: string, other: string): VariableRule => ({
    variable,
    message: `is missing, but required with ${other}.`,
    when: all(...when, set(other), not(set(variable))),
  });
  return [rule(cert, key), rule(key, cert)];
}

/** Skips rules about variables that had a problem before: their values are defaults. */
export function checkRules(
  values: Readonly<Record<string, Value>>,
  report: ConfigurationReport,
): void {
  const facts = { valueOf: (name: string) => values[name] ?? null, providers: [] };
  const wrong = new Set(report.problems.map(({ variable }) => variable.replace(/_FILE$/, '')));
  for (const { variable, message, when } of VARIABLE_RULES) {
    if (!namesIn(when).some((name) => wrong.has(name)) && holds(when, facts)) {
      report.problemOnce(variable, message);
    }
  }
}
