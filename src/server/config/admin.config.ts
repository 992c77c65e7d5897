import type { ProviderRules } from '../../core/policy/eligibility/provider-rules.js';
import { isLoopbackHost } from '../../core/policy/flow/return-address.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import {
  HOST_NAME,
  PLAIN_ADDRESS,
  PROVIDER_ID_PATTERN,
  namespaceOf,
  variablesOf,
  type Checked,
  type ValuesOf,
} from './environment/variable.js';
import { withoutTrailingSlash, type HTTP_VARIABLES } from './http.config.js';
import type { METRICS_VARIABLES } from './metrics.config.js';

const LOOPBACK = '127.0.0.1';

const admin = variablesOf('Administration');

export const ADMIN_VARIABLES = {
  ADMIN_PORT: admin(
    { type: 'integer', default: null, min: 0, max: 65_535 },
    'Port of the administration API, on ADMIN_HOST. Empty = no administration API.',
  ),
  ADMIN_HOST: admin({ ...HOST_NAME, default: LOOPBACK }, 'Address of ADMIN_PORT.'),
  ADMIN_PUBLIC_URL: admin(
    PLAIN_ADDRESS,
    'Address at which browsers reach ADMIN_PORT. Pages of other origins are refused. ADMIN_LOGIN_PROVIDER needs it. Empty = the address that the browser names.',
  ),
  ADMIN_TOKENS_FILE: admin.path(
    'JSON file with an array of API tokens: `name`, `sha256` (of the token, in hex) and `role` (`read` or `operate`). It is read again when it changes. Empty = no tokens.',
  ),
  ADMIN_TLS_CERT_PATH: admin.path(
    'PEM file with the certificate chain of ADMIN_PORT. It is read again when it changes. Empty = plain HTTP.',
  ),
  ADMIN_TLS_KEY_PATH: admin.path('PEM file with the key of that certificate.'),
  ADMIN_TLS_CLIENT_CA_PATH: admin.path(
    'PEM bundle of the authorities whose client certificates may read. Empty = no client certificates.',
  ),
  ADMIN_TLS_OPERATORS: admin.list(
    'Common names of client certificates that may also act. Empty = none.',
  ),
  ADMIN_LOGIN_PROVIDER: admin(
    {
      type: 'string',
      default: null,
      pattern: PROVIDER_ID_PATTERN,
      shape: 'a provider id (lower-case letters, digits, - and _)',
    },
    'Identity provider of the administrators. Register ADMIN_PUBLIC_URL + /admin/v1/login/callback as a redirect address there. Empty = no login with a browser.',
  ),
  ADMIN_LOGIN_READ_GROUPS: admin.list(
    'Groups of that provider (GitHub: organisations of its allowlist). One is needed to read. Empty = only accounts that may act.',
  ),
  ADMIN_LOGIN_OPERATE_GROUPS: admin.list(
    'Groups of that provider. One is needed to act. Empty = none.',
  ),
  ADMIN_LOGIN_SESSION_MINUTES: admin(
    { type: 'integer', default: 60, min: 5, max: 1440 },
    'Lifetime of a login with a browser. The next login reads the groups again.',
  ),
  ADMIN_RATE_LIMIT_PER_MINUTE: admin(
    { type: 'integer', default: 600, min: 1, max: 1_000_000 },
    'Requests per minute on ADMIN_PORT from one address (IPv6: one /64). Each caller with valid credentials has its own limit.',
  ),
  ADMIN_TRUSTED_PROXIES: admin.addresses(
    'Addresses or CIDRs of reverse proxies of ADMIN_PORT. Their X-Forwarded-For counts for the limits and the audit trail. Empty = none.',
  ),
};

export const adminConfig = namespaceOf('admin', ({ values }: Checked<typeof ADMIN_VARIABLES>) => ({
  /** null = the administration API is disabled. */
  port: values.ADMIN_PORT,
  host: values.ADMIN_HOST,
  publicUrl: withoutTrailingSlash(values.ADMIN_PUBLIC_URL),
  tokensFile: values.ADMIN_TOKENS_FILE,
  tls: {
    certPath: values.ADMIN_TLS_CERT_PATH,
    keyPath: values.ADMIN_TLS_KEY_PATH,
    clientCaPath: values.ADMIN_TLS_CLIENT_CA_PATH,
    /** Empty = every certificate has the role `read`. */
    operators: values.ADMIN_TLS_OPERATORS,
  },
  login: {
    provider: values.ADMIN_LOGIN_PROVIDER,
    readGroups: values.ADMIN_LOGIN_READ_GROUPS,
    operateGroups: values.ADMIN_LOGIN_OPERATE_GROUPS,
    sessionMs: values.ADMIN_LOGIN_SESSION_MINUTES * 60_000,
  },
  requestsPerMinute: values.ADMIN_RATE_LIMIT_PER_MINUTE,
  trustedProxies: values.ADMIN_TRUSTED_PROXIES,
}));

export type AdminSettings = ReturnType<typeof adminConfig>;

type AdminValues = ValuesOf<
  typeof ADMIN_VARIABLES & typeof HTTP_VARIABLES & typeof METRICS_VARIABLES
>;

export function checkAdmin(
  values: AdminValues,
  providers: readonly ProviderRules[],
  report: ConfigurationReport,
): void {
  if (values.ADMIN_PORT === null || report.has('ADMIN_PORT')) {
    return;
  }
  checkEncryption(values, report);
  checkLogin(values, providers, report);
}

function checkEncryption(values: AdminValues, report: ConfigurationReport): void {
  const isOn = values.ADMIN_TLS_CERT_PATH !== null || values.ADMIN_TLS_KEY_PATH !== null;
  const host = values.ADMIN_HOST;
  if (!isOn && !report.has('ADMIN_HOST') && !isLoopbackHost(host === '::1' ? '[::1]' : host)) {
    report.warn(
      `ADMIN_HOST is ${host} without ADMIN_TLS_CERT_PATH: tokens and personal data cross the network unencrypted. Set the certificate, or let only a proxy that ends TLS reach the port.`,
    );
  }
}

function checkLogin(
  values: AdminValues,
  providers: readonly ProviderRules[],
  report: ConfigurationReport,
): void {
  const id = values.ADMIN_LOGIN_PROVIDER;
  if (id === null) {
    return;
  }
  if (!providers.some((provider) => provider.id === id)) {
    report.problemOnce('ADMIN_LOGIN_PROVIDER', `names ${id}, which is not configured.`);
  }
}
