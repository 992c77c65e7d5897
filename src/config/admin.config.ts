import {
  namespaceOf,
  PROVIDER_ID_PATTERN,
  type Variable,
  variablesOf,
} from './environment/variable.js';
import { withoutTrailingSlash } from './http.config.js';

const LOOPBACK = '127.0.0.1';

const admin = variablesOf('Administration');

/** The administration API, on a port of its own. */
export const ADMIN_VARIABLES = {
  ADMIN_PORT: admin(
    { type: 'integer', default: null, min: 0, max: 65_535 },
    'Port of the administration API, on ADMIN_HOST. Empty = there is none.',
  ),
  ADMIN_HOST: admin(
    {
      type: 'string',
      default: LOOPBACK,
      pattern: /^[\w.:%-]+$/,
      shape: 'an IP address or a host name',
    },
    'Address that ADMIN_PORT listens on.',
  ),
  ADMIN_PUBLIC_URL: admin(
    { type: 'url', default: null, schemes: ['https', 'http'] },
    'Address at which browsers reach ADMIN_PORT; ADMIN_LOGIN_PROVIDER needs it. Requests of pages on any other origin are refused. Empty = the address that the browser names.',
  ),
  ADMIN_TOKENS_FILE: admin(
    { type: 'path', default: null },
    'JSON file of those who may use the API: an array of objects with `name`, `sha256` (of the token, in hex) and `role` (`read` or `operate`). Read again when it changes. Empty = no tokens.',
  ),
  ADMIN_TLS_CERT_PATH: admin(
    { type: 'path', default: null },
    'PEM file with the certificate chain of ADMIN_PORT. Read again when it changes. Empty = plain HTTP.',
  ),
  ADMIN_TLS_KEY_PATH: admin(
    { type: 'path', default: null },
    'PEM file with the key of that certificate.',
  ),
  ADMIN_TLS_CLIENT_CA_PATH: admin(
    { type: 'path', default: null },
    'PEM bundle of the authorities whose client certificates may read. Empty = certificates are not asked for.',
  ),
  ADMIN_TLS_OPERATORS: admin(
    { type: 'csv', default: [] },
    'Common names of client certificates that may also act. Empty = none.',
  ),
  ADMIN_LOGIN_PROVIDER: admin(
    {
      type: 'string',
      default: null,
      pattern: PROVIDER_ID_PATTERN,
      shape: 'a provider id (lower-case letters, digits, - and _)',
    },
    'Identity provider through which administrators log in with a browser. Register ADMIN_PUBLIC_URL with /admin/v1/login/callback as a redirect address there. Empty = no login with a browser.',
  ),
  ADMIN_LOGIN_READ_GROUPS: admin(
    { type: 'csv', default: [] },
    'Groups of that provider (GitHub: organisations of its allowlist) of which one is needed to read. Empty = only those who may act.',
  ),
  ADMIN_LOGIN_OPERATE_GROUPS: admin(
    { type: 'csv', default: [] },
    'The same, to act as well. Empty = none.',
  ),
  ADMIN_LOGIN_SESSION_MINUTES: admin(
    { type: 'integer', default: 60, min: 5, max: 1440 },
    'Lifetime of a login with a browser. Groups are read again at the next one.',
  ),
  ADMIN_RATE_LIMIT_PER_MINUTE: admin(
    { type: 'integer', default: 600, min: 1, max: 1_000_000 },
    'Requests per minute of one address group on ADMIN_PORT.',
  ),
} as const satisfies Record<string, Variable>;

/** Where the administration API listens, and who may use it. */
export const adminConfig = namespaceOf('admin', ({ values }) => ({
  /** null = there is no administration API. */
  port: values.ADMIN_PORT,
  host: values.ADMIN_HOST,
  /** Without a trailing slash. */
  publicUrl: withoutTrailingSlash(values.ADMIN_PUBLIC_URL),
  tokensFile: values.ADMIN_TOKENS_FILE,
  tls: {
    certPath: values.ADMIN_TLS_CERT_PATH,
    keyPath: values.ADMIN_TLS_KEY_PATH,
    clientCaPath: values.ADMIN_TLS_CLIENT_CA_PATH,
    /** Empty = every certificate only reads. */
    operators: values.ADMIN_TLS_OPERATORS,
  },
  login: {
    provider: values.ADMIN_LOGIN_PROVIDER,
    /** Empty = none. */
    readGroups: values.ADMIN_LOGIN_READ_GROUPS,
    /** Empty = none. */
    operateGroups: values.ADMIN_LOGIN_OPERATE_GROUPS,
    sessionMs: values.ADMIN_LOGIN_SESSION_MINUTES * 60_000,
  },
  requestsPerMinute: values.ADMIN_RATE_LIMIT_PER_MINUTE,
}));
