import { loginOrigins } from './auth.config.js';
import { returnAddressFacts } from './browser.config.js';
import { isUnreadableIssuer } from './rules/certificate-rules.js';
import type { ConfigurationReport } from './configuration-error.js';
import type { VariableName, Values } from './environment/env.js';
import { RESERVED_PROVIDER_IDS } from './providers-file/provider-entry.js';
import type { ProviderSettings } from './providers.config.js';
import { accentShades } from '../policy/brand/accent.js';
import { fitsLoginChallenge } from '../policy/admission/login-challenge.js';
import {
  isAllowableScheme,
  isLoopbackHost,
  judgeReturnAddress,
} from '../policy/flow/return-address.js';

/** Checks that need more than one variable. Each skips what was already found wrong by itself. */
export function checkTogether(
  values: Values,
  providers: readonly ProviderSettings[],
  report: ConfigurationReport,
): void {
  checkMasterSecret(values, report);
  checkRedis(values, report);
  checkHttp(values, report);
  checkLoginOrigins(values, report);
  checkProviderLists(values, report);
  checkReturnAddress(values, providers, report);
  checkAutoRedirect(values, report);
  checkMetrics(values, report);
  checkBrand(values, report);
}

function checkMasterSecret(values: Values, report: ConfigurationReport): void {
  const secret = values.SERVICE_MASTER_SECRET;
  const named = ['SERVICE_MASTER_SECRET', 'SERVICE_MASTER_SECRET_FILE'].some((name) =>
    report.has(name),
  );
  if (values.DATABASE_URL !== null && secret === null && !named) {
    report.problem(
      'SERVICE_MASTER_SECRET',
      'is required with DATABASE_URL; make one with: openssl rand -base64 48',
    );
  }
  if (secret !== null && values.SERVICE_MASTER_SECRET_PREVIOUS.includes(secret)) {
    report.warn('SERVICE_MASTER_SECRET_PREVIOUS repeats the current SERVICE_MASTER_SECRET.');
  }
}

function checkRedis(values: Values, report: ConfigurationReport): void {
  const { username, password } = new URL(values.REDIS_URL ?? 'redis://none');
  if (!isPercentEncoded(username + password)) {
    report.problem('REDIS_URL', 'must have each % of the user or the password written as %25.');
  }
  checkRedisCluster(values, report);
  if (values.REDIS_SENTINELS.length > 0 && values.REDIS_URL === null) {
    report.problemOnce(
      'REDIS_URL',
      'is missing although REDIS_SENTINELS is set: its host is the name of the primary.',
    );
  }
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function checkRedisCluster(values: Values, report: ConfigurationReport): void {
  if (values.REDIS_CLUSTER_NODES.length === 0) {
    return;
  }
  if (values.REDIS_SENTINELS.length > 0 || values.REDIS_SENTINEL_PASSWORD !== null) {
    report.problem(
      'REDIS_CLUSTER_NODES',
      'must not be set together with REDIS_SENTINELS or REDIS_SENTINEL_PASSWORD: a Redis Cluster has no Sentinels.',
    );
  }
  if (values.REDIS_URL === null) {
    report.problemOnce(
      'REDIS_URL',
      'is missing although REDIS_CLUSTER_NODES is set: it names a node, and has the scheme and the password of all.',
    );
    return;
  }
  const { pathname, search } = new URL(values.REDIS_URL);
  if (!['', '/', '/0'].includes(pathname) || search !== '') {
    report.problem(
      'REDIS_URL',
      'must not have a database number or a query with REDIS_CLUSTER_NODES: a Redis Cluster has database 0 only.',
    );
  }
}

function checkHttp(values: Values, report: ConfigurationReport): void {
  const origins = values.SERVICE_CORS_ORIGINS;
  if (origins.includes('*') && origins.length > 1) {
    report.problem('SERVICE_CORS_ORIGINS', 'must be * alone, or a list of origins without *.');
  }
  if (values.SERVICE_PUBLIC_URL === null) {
    return;
  }
  const url = new URL(values.SERVICE_PUBLIC_URL);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    report.problem('SERVICE_PUBLIC_URL', 'must not have a user name, query or fragment.');
  }
}

/** Every visit to the page loads it. */
const MAX_LOGO_CHARACTERS = 32_768;

/** A colour that cannot be read is no problem: the page replaces it. */
function checkBrand(values: Values, report: ConfigurationReport): void {
  if ((values.SERVICE_BRAND__LOGO_URL?.length ?? 0) > MAX_LOGO_CHARACTERS) {
    report.problem(
      'SERVICE_BRAND__LOGO_URL',
      `must have at most ${MAX_LOGO_CHARACTERS} characters.`,
    );
  }
  const color = values.SERVICE_BRAND__ACCENT?.toLowerCase() ?? null;
  if (color === null || report.has('SERVICE_BRAND__ACCENT')) {
    return;
  }
  const { light, dark } = accentShades(color);
  if (light.accent !== color && dark.accent !== color) {
    report.warn(
      `SERVICE_BRAND__ACCENT has too little contrast: the page uses ${light.accent} in the light theme and ${dark.accent} in the dark one.`,
    );
  }
}

/** Origins that no client can have, and more of them than fit into what a client signs. */
function checkLoginOrigins(values: Values, report: ConfigurationReport): void {
  const name = 'SERVICE_LOGIN_ORIGINS';
  if (report.has(name) || report.has('SERVICE_PUBLIC_URL')) {
    return;
  }
  const wrong = values[name].filter((origin) => !isOrigin(origin));
  if (wrong.length > 0) {
    report.problem(name, `must not name ${wrong.join(', ')}, which is not an origin.`);
  } else if (!fitsLoginChallenge(loginOrigins(values))) {
    report.problem(name, 'is too long: with SERVICE_PUBLIC_URL, about 900 characters fit.');
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).href === `${new URL(text).origin}/`;
}

/** `mtls` may be required; it is no OAuth provider, so it cannot stand in the other lists. */
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

function checkReturnAddress(
  values: Values,
  providers: readonly ProviderSettings[],
  report: ConfigurationReport,
): void {
  const schemes = values.SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES;
  const refused = schemes.filter((scheme) => !isAllowableScheme(scheme));
  if (refused.length > 0) {
    report.problem(
      'SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES',
      `must not name ${refused.join(', ')}: such an address is never safe to return to.`,
    );
  }
  for (const name of ['SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE', 'SERVICE_WEBAPP_URL'] as const) {
    reportUnsafe(name, values[name], schemes, report);
  }
  const names = [
    'SERVICE_WEBAPP_URL',
    'SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE',
    'SERVICE_PUBLIC_URL',
  ];
  if (providers.length > 0 && !names.some((name) => report.has(name))) {
    // The page this server hosts, where neither of the two variables is set.
    reportUnsafe('SERVICE_PUBLIC_URL', returnAddressFacts(values).hostedUrl, [], report);
  }
}

function reportUnsafe(
  name: VariableName,
  address: string | null,
  schemes: readonly string[],
  report: ConfigurationReport,
): void {
  const verdict = address === null ? null : judgeReturnAddress(address, schemes);
  if (verdict !== null && !verdict.safe) {
    report.problem(name, `is no safe address to return to after OAuth: it ${verdict.reason}.`);
  }
}

function checkAutoRedirect(values: Values, report: ConfigurationReport): void {
  const target = 'SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_PROVIDER_ID';
  if (values.SERVICE_FEATURE_AUTH_UI__AUTO_REDIRECT_ENABLED && values[target] === null) {
    report.problemOnce(target, 'is missing although the automatic redirect is on.');
  }
}

/** Metrics name providers, routes and how often logins fail. */
function checkMetrics(values: Values, report: ConfigurationReport): void {
  const { METRICS_HOST: host, METRICS_PORT: port, METRICS_TOKEN: token } = values;
  const isOpen = port !== null && token === null && !report.has('METRICS_TOKEN');
  if (isOpen && host !== null && !isLoopbackHost(host === '::1' ? '[::1]' : host)) {
    report.warn(
      `METRICS_HOST is ${host} and there is no METRICS_TOKEN: every client that reaches METRICS_PORT reads the metrics. Set METRICS_TOKEN, or let the network limit who reaches the port.`,
    );
  }
}

const CA_PATH = 'SERVICE_FEATURE_AUTH_MTLS__CA_PATH';
const ISSUERS = 'SERVICE_FEATURE_AUTH_MTLS__ALLOWED_ISSUERS';

/** Checks that a configuration with client certificates on is complete enough to start. */
export function checkMtls(
  values: Values,
  texts: ReadonlyMap<string, string>,
  report: ConfigurationReport,
): void {
  checkIssuers(texts.get(ISSUERS) ?? '', values, report);
  checkReturnPrefixes(values, report);
  checkRequiredCertificate(values, report);
  if (!values.SERVICE_FEATURE_AUTH_MTLS__ENABLED) {
    return;
  }
  if (values.SERVICE_FEATURE_AUTH_MTLS__MODE === 'direct') {
    checkDirect(values, report);
  } else {
    checkForwarded(values, report);
  }
  checkRevocation(values, report);
}

/** Where no certificate can be connected, every account would be refused. */
function checkRequiredCertificate(values: Values, report: ConfigurationReport): void {
  const name = 'AUTH_REQUIRED_LOGIN_PROVIDERS';
  if (!values[name].includes('mtls') || report.has(name)) {
    return;
  }
  if (!values.SERVICE_FEATURE_AUTH_MTLS__ENABLED) {
    report.problem(
      name,
      'must not name mtls without SERVICE_FEATURE_AUTH_MTLS__ENABLED: no certificate could be connected.',
    );
  } else if (
    values.SERVICE_FEATURE_AUTH_MTLS__MODE === 'forwarded' &&
    (!values.SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS ||
      values.SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES.length === 0)
  ) {
    report.problem(
      name,
      'must not name mtls while no proxy may forward a certificate: set SERVICE_FEATURE_AUTH_MTLS__TRUST_FORWARDED_HEADERS and SERVICE_FEATURE_AUTH_MTLS__TRUSTED_PROXIES.',
    );
  }
}

const OCSP = 'SERVICE_FEATURE_AUTH_MTLS__OCSP_ENABLED';
const CRL_URLS = 'SERVICE_FEATURE_AUTH_MTLS__CRL_URLS';
const CRL_HOSTS = 'SERVICE_FEATURE_AUTH_MTLS__CRL_ALLOWED_HOSTS';

/** Revocation is looked up by the certificate itself, and believed with its authority's signature. */
function checkRevocation(values: Values, report: ConfigurationReport): void {
  if (values[OCSP]) {
    needed(CA_PATH, values, report, 'OCSP answers are signed by an authority');
    if (values[CRL_HOSTS].length === 0 && !report.has(CRL_HOSTS)) {
      report.problem(CRL_HOSTS, 'is missing: OCSP responders are asked at these hosts only.');
    }
  }
  if (values[CRL_URLS].some((url) => url.startsWith('http:'))) {
    needed(CA_PATH, values, report, 'a list fetched over http has to be signed by an authority');
  }
  const isPlain =
    values.SERVICE_FEATURE_AUTH_MTLS__MODE === 'forwarded' &&
    values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET === 'plain';
  const used = [
    values[OCSP] ? [OCSP] : [],
    values[CRL_URLS].length > 0 ? [CRL_URLS] : [],
    values[CRL_HOSTS].length > 0 ? [CRL_HOSTS] : [],
  ].flat();
  for (const name of isPlain ? used : []) {
    if (!report.has(name)) {
      report.problem(name, 'needs a preset that forwards the certificate itself.');
    }
  }
}

function checkForwarded(values: Values, report: ConfigurationReport): void {
  const preset = values.SERVICE_FEATURE_AUTH_MTLS__FORWARDED_PRESET;
  if (preset === 'aws-alb-passthrough') {
    needed(CA_PATH, values, report, 'the load balancer verifies nothing in pass-through mode');
  }
  if (preset === 'custom') {
    const header = 'SERVICE_FEATURE_AUTH_MTLS__CUSTOM_CERTIFICATE_HEADER';
    needed(header, values, report, 'the preset custom reads the header that you name');
  }
  const verify = 'SERVICE_FEATURE_AUTH_MTLS__VERIFY_FORWARDED';
  if (values[verify]) {
    needed(CA_PATH, values, report, 'forwarded certificates are to be verified');
    if (preset === 'plain') {
      report.problemOnce(verify, 'needs a preset that forwards the certificate itself.');
    }
  }
}

function checkDirect(values: Values, report: ConfigurationReport): void {
  const port = 'SERVICE_FEATURE_AUTH_MTLS__TLS_PORT';
  const names: VariableName[] = [
    port,
    'SERVICE_FEATURE_AUTH_MTLS__TLS_CERT_PATH',
    'SERVICE_FEATURE_AUTH_MTLS__TLS_KEY_PATH',
    CA_PATH,
  ];
  for (const name of names) {
    needed(name, values, report, 'this server verifies the certificates itself in mode direct');
  }
  if (values[port] !== null && values[port] !== 0 && values[port] === values.PORT) {
    report.problem(port, 'must not be the same as PORT.');
  }
}

/**
 * A distinguished name without quotes would be split at its commas, and its common name alone would
 * then allow issuers of other organisations.
 */
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

/** Prefixes are compared by origin and path, so they must have one and nothing that runs code. */
function checkReturnPrefixes(values: Values, report: ConfigurationReport): void {
  const name = 'SERVICE_FEATURE_AUTH_MTLS__RETURN_TO_ALLOW_PREFIXES';
  const unsafe = values[name].some(
    (prefix) => !URL.canParse(prefix) || /^(javascript|data|file|vbscript|blob):/i.test(prefix),
  );
  if (unsafe) {
    report.problem(name, 'must have full addresses whose scheme runs no code and reads no file.');
  }
}

function needed(
  name: VariableName,
  values: Values,
  report: ConfigurationReport,
  why: string,
): void {
  if (values[name] === null) {
    report.problemOnce(name, `is missing: ${why}.`);
  }
}
