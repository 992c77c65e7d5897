import type { ConfigType } from '@nestjs/config';
import { namespaceOf, type Variable, variablesOf } from './environment/variable.js';
import type { Values } from './environment/env.js';

const server = variablesOf('Server');
const limit = variablesOf('Limits');

/** How the process listens. */
export const HTTP_VARIABLES = {
  PORT: server(
    { type: 'integer', default: 3000, min: 0, max: 65_535 },
    'Port to listen on. 0 takes any free port.',
  ),
  HOST: server(
    {
      type: 'string',
      default: '0.0.0.0',
      pattern: /^[\w.:%-]+$/,
      shape: 'an IP address or a host name',
    },
    'Address to listen on.',
  ),
  SERVICE_PRESET: server(
    { type: 'string', default: null },
    'Name of a file in config/presets whose values are used where a variable is not set.',
  ),
  SERVICE_PUBLIC_URL: server(
    { type: 'url', schemes: ['http', 'https'], default: null },
    'The address clients use. Provider callbacks and the default return address are made from it.',
  ),
  SERVICE_TRUSTED_PROXIES: server(
    { type: 'cidrs', default: [] },
    'Addresses or CIDRs of the reverse proxies whose X-Forwarded-For is trusted. Empty = none.',
  ),
  SERVICE_CORS_ORIGINS: server(
    {
      type: 'csv',
      default: ['*'],
      pattern: /^(\*|[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]+)$/i,
      shape: '* or an origin such as https://app.example.com (no path)',
    },
    'Origins browsers may call from. `*` = any: bearer tokens are not sent by a browser on its own.',
  ),
  SERVICE_BODY_LIMIT_BYTES: server(
    { type: 'integer', default: 1_048_576, min: 32_768, max: 33_554_432 },
    'Largest request body in bytes; a larger one is answered 413.',
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
    'Time over which live connections are closed after SIGTERM, in waves; at most 60 % of SERVICE_SHUTDOWN_GRACE_SECONDS. Few connections take less.',
  ),
  SERVICE_DOCS_ENABLED: server(
    { type: 'boolean', default: true },
    'Serves the OpenAPI page at /docs.',
  ),
  SERVICE_ACCOUNT_PAGE_ENABLED: server(
    { type: 'boolean', default: true },
    'Serves the account page at /app, where people sign in with a browser, unless SERVICE_WEBAPP_URL or SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE sends browsers elsewhere.',
  ),
  SERVICE_NOTIFICATION_REQUEST_URL: server(
    {
      type: 'string',
      default: null,
      pattern: /^https?:\/\/[^\s/{}\\@]+\/\S*$/,
      shape: 'an http or https address with a path, in which {sessionId} and {requestId} may stand',
    },
    'Address in your app that a click on a notification of the account page opens, for example `https://app.example.com/sessions/{sessionId}?request={requestId}`; `{serverUrl}` is replaced too. Empty = the account page, which shows the ids.',
  ),
  SERVICE_LOG_LEVEL: server(
    {
      type: 'enum',
      default: 'info',
      values: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    },
    'Least severe log line that is written.',
  ),
} as const satisfies Record<string, Variable>;

/** How much one address and one account may ask for. */
export const RATE_LIMIT_VARIABLES = {
  SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: limit(
    { type: 'integer', default: 1200, min: 0, max: 1_000_000 },
    'Requests a minute from one address. 0 = no limit.',
  ),
  SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE: limit(
    { type: 'integer', default: 1200, min: 0, max: 1_000_000 },
    'Authenticated requests a minute of one account. 0 = no limit.',
  ),
  AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE: limit(
    { type: 'integer', default: 120, min: 0, max: 1_000_000 },
    'Login and sign-up attempts a minute from one address. 0 = no limit.',
  ),
  SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE: limit(
    { type: 'integer', default: 600, min: 0, max: 1_000_000 },
    'Handshakes a minute at /v1/updates from one address. 0 = no limit.',
  ),
} as const satisfies Record<string, Variable>;

export const httpConfig = namespaceOf('http', ({ values }) => ({
  host: values.HOST,
  port: values.PORT,
  /** The address clients use, without a trailing slash; null when it was not given. */
  publicUrl: withoutTrailingSlash(values.SERVICE_PUBLIC_URL),
  trustedProxies: values.SERVICE_TRUSTED_PROXIES,
  /** `['*']` = any: bearer tokens are not ambient credentials. */
  corsOrigins: values.SERVICE_CORS_ORIGINS,
  bodyLimitBytes: values.SERVICE_BODY_LIMIT_BYTES,
  requestTimeoutMs: values.SERVICE_REQUEST_TIMEOUT_SECONDS * 1000,
  shutdownGraceMs: values.SERVICE_SHUTDOWN_GRACE_SECONDS * 1000,
  shutdownSpreadMs: values.SERVICE_SHUTDOWN_SPREAD_SECONDS * 1000,
  docsEnabled: values.SERVICE_DOCS_ENABLED,
  /** The account page is also where browsers return by default. */
  accountPageEnabled: hostsAccountPage(values),
  /** With placeholders, as `requestAddress` of the client kit fills them in; null = the account page. */
  notificationRequestUrl: values.SERVICE_NOTIFICATION_REQUEST_URL,
  logLevel: values.SERVICE_LOG_LEVEL,
}));

/** Requests (or handshakes) a minute; 0 = no limit. */
export const rateLimitsConfig = namespaceOf('rateLimits', ({ values }) => ({
  perIp: values.SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE,
  perAccount: values.SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE,
  loginPerIp: values.AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE,
  handshakePerIp: values.SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE,
}));

export type RateLimitSettings = ConfigType<typeof rateLimitsConfig>;

export type AccountPageValues = Pick<
  Values,
  'SERVICE_ACCOUNT_PAGE_ENABLED' | 'SERVICE_WEBAPP_URL' | 'SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE'
>;

/** Where another web app takes what browsers bring back, this page could finish no login. */
export function hostsAccountPage(values: AccountPageValues): boolean {
  const { SERVICE_WEBAPP_URL: webappUrl, SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: base } = values;
  return values.SERVICE_ACCOUNT_PAGE_ENABLED && webappUrl === null && base === null;
}

/** `myapp://` keeps its slashes: they belong to the scheme. */
export function withoutTrailingSlash(address: string | null): string | null {
  return address === null ? null : address.replace(/(?<![:/])\/+$/, '');
}
