import { canonicalOrigin } from '../network/origins.js';
import type { ConfigurationReport } from './environment/configuration-error.js';
import {
  HOST_NAME,
  PLAIN_ADDRESS,
  namespaceOf,
  variablesOf,
  type Checked,
  type ValuesOf,
} from './environment/variable.js';

const server = variablesOf('Server');
const limit = variablesOf('Limits');

export const HTTP_VARIABLES = {
  PORT: server(
    { type: 'integer', default: 3000, min: 0, max: 65_535 },
    'Port to listen on. 0 takes any free port.',
  ),
  HOST: server(
    { ...HOST_NAME, default: '0.0.0.0' },
    'Address to listen on. `::` = every address of both families; without IPv6, every one of IPv4.',
  ),
  SERVICE_PRESET: server(
    { type: 'string', default: null },
    'Name of a file in config/presets. Its values apply where a variable is not set.',
  ),
  SERVICE_PUBLIC_URL: server(
    PLAIN_ADDRESS,
    'Address that clients use. Provider callbacks and the default return address begin with it.',
  ),
  SERVICE_TLS_CERT_PATH: server.path(
    'PEM file with the certificate chain of PORT, which then serves HTTPS. It is read again when it changes. Empty = plain HTTP, for a proxy that ends TLS.',
  ),
  SERVICE_TLS_KEY_PATH: server.path(
    'PEM file with the key of that certificate. It is read again when it changes.',
  ),
  SERVICE_TRUSTED_PROXIES: server.addresses(
    'Addresses or CIDRs of reverse proxies whose X-Forwarded-For is trusted. Empty = none.',
  ),
  SERVICE_CORS_ORIGINS: server(
    {
      type: 'csv',
      default: ['*'],
      pattern: /^(\*|[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]+)$/i,
      shape: '* or an origin such as https://app.example.com (no path)',
    },
    'Origins from which browsers may call, as they send them: lower case, without a default port. Those of SERVICE_PUBLIC_URL and SERVICE_LOGIN_ORIGINS always may. `*` = any: a browser never sends a bearer token by itself.',
  ),
  SERVICE_BODY_LIMIT_BYTES: server(
    { type: 'integer', default: 1_048_576, min: 32_768, max: 33_554_432 },
    'Largest body in bytes of settings, credentials and the migration. It is read after authentication. Settings may use a third of it, and all credentials another. Other bodies have at most 32 KiB. More gets 413.',
  ),
  SERVICE_REQUEST_TIMEOUT_SECONDS: server(
    { type: 'integer', default: 30, min: 1, max: 600 },
    'Time for a whole request to arrive.',
  ),
  SERVICE_SHUTDOWN_GRACE_SECONDS: server(
    { type: 'integer', default: 25, min: 0, max: 600 },
    'Time that open requests and connections get to finish after SIGTERM.',
  ),
  SERVICE_SHUTDOWN_SPREAD_SECONDS: server(
    { type: 'integer', default: 10, min: 0, max: 600 },
    'Time in which live connections are closed after SIGTERM, in waves. At most 60 % of SERVICE_SHUTDOWN_GRACE_SECONDS. Few connections take less time.',
  ),
  SERVICE_DOCS_ENABLED: server.onByDefault('Serves the OpenAPI page at /docs.'),
  SERVICE_ACCOUNT_PAGE_ENABLED: server.onByDefault(
    'Serves the account page at /app. The page is off if SERVICE_WEBAPP_URL or SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE is set.',
  ),
  SERVICE_NOTIFICATION_REQUEST_URL: server(
    {
      type: 'string',
      default: null,
      pattern: /^https?:\/\/[^\s/{}\\@]+\/\S*$/,
      shape: 'an http or https address with a path, in which {sessionId} and {requestId} may stand',
    },
    'Address in your app that a click on a notification opens, such as `https://app.example.com/s/{sessionId}?request={requestId}`. `{serverUrl}` is replaced too. Empty = the account page.',
  ),
  SERVICE_LOG_LEVEL: server(
    {
      type: 'enum',
      default: 'info',
      values: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    },
    'Least severe log line that is written.',
  ),
};

export const RATE_LIMIT_VARIABLES = {
  SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: limit(
    { type: 'integer', default: 1200, min: 0, max: 1_000_000 },
    'Requests a minute from one address. 0 = no limit.',
  ),
  SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE: limit(
    { type: 'integer', default: 1200, min: 0, max: 1_000_000 },
    'Authenticated requests a minute of one account, of which one session may use half. 0 = no limit.',
  ),
  AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE: limit(
    { type: 'integer', default: 120, min: 0, max: 1_000_000 },
    'Login and sign-up attempts, and requests of programs, a minute from one address. 0 = no limit.',
  ),
  SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE: limit(
    { type: 'integer', default: 600, min: 0, max: 1_000_000 },
    'Handshakes a minute at /v1/updates from one address. 0 = no limit.',
  ),
  SERVICE_RATE_LIMIT_PER_RESOURCE_SERVER_PER_MINUTE: limit(
    { type: 'integer', default: 60_000, min: 0, max: 10_000_000 },
    'Introspections a minute of one resource server. 0 = no limit.',
  ),
};

export const httpConfig = namespaceOf(
  'http',
  ({ values }: { values: HttpValues & AccountPageValues & OwnOriginValues }) => ({
    host: values.HOST,
    port: values.PORT,
    /** Without a trailing slash; null = not configured. */
    publicUrl: withoutTrailingSlash(values.SERVICE_PUBLIC_URL),
    tls: {
      /** null = plain HTTP. */
      certPath: values.SERVICE_TLS_CERT_PATH,
      keyPath: values.SERVICE_TLS_KEY_PATH,
    },
    trustedProxies: values.SERVICE_TRUSTED_PROXIES,
    /** `['*']` = any origin, because bearer tokens are not ambient credentials. */
    corsOrigins: values.SERVICE_CORS_ORIGINS.includes('*')
      ? ['*']
      : [...new Set([...values.SERVICE_CORS_ORIGINS, ...ownOrigins(values)])],
    bodyLimitBytes: values.SERVICE_BODY_LIMIT_BYTES,
    requestTimeoutMs: values.SERVICE_REQUEST_TIMEOUT_SECONDS * 1000,
    shutdownGraceMs: values.SERVICE_SHUTDOWN_GRACE_SECONDS * 1000,
    shutdownSpreadMs: values.SERVICE_SHUTDOWN_SPREAD_SECONDS * 1000,
    docsEnabled: values.SERVICE_DOCS_ENABLED,
    accountPageEnabled: hostsAccountPage(values),
    /** Has the placeholders of `requestAddress` of the client kit; null = the account page. */
    notificationRequestUrl: values.SERVICE_NOTIFICATION_REQUEST_URL,
    logLevel: values.SERVICE_LOG_LEVEL,
  }),
);

export type HttpSettings = ReturnType<typeof httpConfig>;

/** Requests (or handshakes) a minute; 0 = no limit. */
export const rateLimitsConfig = namespaceOf(
  'rateLimits',
  ({ values }: Checked<typeof RATE_LIMIT_VARIABLES>) => ({
    perIp: values.SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE,
    perAccount: values.SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE,
    loginPerIp: values.AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE,
    handshakePerIp: values.SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE,
    perResourceServer: values.SERVICE_RATE_LIMIT_PER_RESOURCE_SERVER_PER_MINUTE,
  }),
);

export type RateLimitSettings = ReturnType<typeof rateLimitsConfig>;

type HttpValues = ValuesOf<typeof HTTP_VARIABLES>;

/** The table of the return address imports this file, so two of its variables are declared here. */
export interface AccountPageValues extends Pick<
  HttpValues,
  'SERVICE_ACCOUNT_PAGE_ENABLED' | 'SERVICE_PUBLIC_URL'
> {
  readonly SERVICE_WEBAPP_URL: string | null;
  readonly SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: string | null;
}

/** One of its variables is in the table of the logins, which imports this file. */
interface OwnOriginValues extends Pick<HttpValues, 'SERVICE_PUBLIC_URL'> {
  readonly SERVICE_LOGIN_ORIGINS: readonly string[];
}

/** Origins of this server, that of SERVICE_PUBLIC_URL first. The values must be valid. */
export function ownOrigins(values: OwnOriginValues): string[] {
  const addresses = [values.SERVICE_PUBLIC_URL ?? [], values.SERVICE_LOGIN_ORIGINS].flat();
  return [...new Set(addresses.map((address) => new URL(address).origin))];
}

/** Returns false if another web app is the return address: the page could finish no login. */
export function hostsAccountPage(values: AccountPageValues): boolean {
  const { SERVICE_WEBAPP_URL: webappUrl, SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: base } = values;
  return values.SERVICE_ACCOUNT_PAGE_ENABLED && webappUrl === null && base === null;
}

/** Keeps the slashes of `myapp://`, which belong to the scheme. */
export function withoutTrailingSlash(address: string | null): string | null {
  return address === null ? null : address.replace(/(?<![:/])\/+$/, '');
}

export function checkHttp(values: HttpValues, report: ConfigurationReport): void {
  checkCorsOrigins(values.SERVICE_CORS_ORIGINS, report);
}

/** Browsers send an origin in one form, and it is compared as text. */
function checkCorsOrigins(origins: readonly string[], report: ConfigurationReport): void {
  const name = 'SERVICE_CORS_ORIGINS';
  const listed = origins.filter((origin) => origin !== '*');
  if (listed.length < origins.length && origins.length > 1) {
    report.problem(name, 'must be * alone, or a list of origins without *.');
    return;
  }
  const wildcard = listed.find((origin) => origin.includes('*'));
  const other = listed.find((origin) => originOf(origin) !== origin);
  if (wildcard !== undefined) {
    report.problem(
      name,
      `has ${wildcard}, but a * inside an origin matches nothing: list each one.`,
    );
  } else if (other !== undefined) {
    const sent = originOf(other);
    const reason = sent === null ? 'is not an origin' : `browsers send as ${sent}`;
    report.problem(name, `has ${other}, which ${reason}.`);
  }
}

/** The page that opens a WebSocket has the scheme of its own address. */
function originOf(text: string): string | null {
  return canonicalOrigin(text.replace(/^ws(?=s?:)/i, 'http'));
}
