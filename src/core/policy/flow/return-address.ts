/** Schemes that run code, read files or are unencrypted: no setting can allow them. */
const REFUSED_SCHEMES = ['javascript', 'data', 'file', 'vbscript', 'http', 'blob', 'about'];

export interface ReturnAddressFacts {
  readonly returnUrlBase: string | null;
  readonly webappUrl: string | null;
  /** The account page of this server; null = it hosts none, or its address is not set. */
  readonly hostedUrl: string | null;
}

type ReturnAddressVerdict =
  | { readonly safe: true }
  /** `reason` completes "the address ...". */
  | { readonly safe: false; readonly reason: string };

export function isAllowableScheme(scheme: string): boolean {
  return !REFUSED_SCHEMES.includes(scheme.toLowerCase());
}

/** Safe are https, http on a loopback host, and the schemes of `allowedSchemes`. */
export function judgeReturnAddress(
  address: string,
  allowedSchemes: readonly string[],
): ReturnAddressVerdict {
  const url = parseStrictly(address);
  if (url === null) {
    return unsafe('is not a full address');
  }
  const scheme = url.protocol.slice(0, -1);
  if (url.username !== '' || url.password !== '') {
    return unsafe('must not hold a user name or password');
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(address)) {
    return unsafe('must not have a query or fragment, as the answer is added there');
  }
  if (scheme === 'https' || (scheme === 'http' && isLoopbackHost(url.hostname))) {
    return { safe: true };
  }
  if (scheme === 'http') {
    return unsafe('uses http on a host that is not loopback; use https');
  }
  if (!isAllowableScheme(scheme)) {
    return unsafe(`uses the scheme ${scheme}, which is never safe`);
  }
  return allowedSchemes.includes(scheme)
    ? { safe: true }
    : unsafe(`uses the scheme ${scheme}, which SERVICE_OAUTH_RETURN_ALLOWED_SCHEMES does not list`);
}

/** The return base, else the web app, else this server's page (contract, External providers). */
export function returnAddressFor(facts: ReturnAddressFacts, providerId: string): string | null {
  if (facts.returnUrlBase !== null) {
    return joined(facts.returnUrlBase, providerId);
  }
  if (facts.webappUrl !== null) {
    return joined(facts.webappUrl, `oauth/${providerId}`);
  }
  return facts.hostedUrl === null ? null : joined(facts.hostedUrl, `app/oauth/${providerId}`);
}

/** Judges as browsers and RFC 8252 do. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

/** A base such as `myapp://` needs no separator before the provider. */
function joined(base: string, path: string): string {
  return base.endsWith('/') ? `${base}${path}` : `${base}/${path}`;
}

/** URL parsers drop tabs and line breaks ("java\nscript:"), and read a backslash as a slash. */
function parseStrictly(address: string): URL | null {
  const isFull = !/[\s\p{Cc}\\]/u.test(address) && URL.canParse(address);
  return isFull ? new URL(address) : null;
}

function unsafe(reason: string): ReturnAddressVerdict {
  return { safe: false, reason };
}

/** Path parts that a program behind the address could decode to another path. */
const AMBIGUOUS_PATH = /%(?:2f|5c|00|0a|0d)/i;

/**
 * Returns the allowed return address of a login code, as a URL parser reads it, or null.
 * @param prefixes origin and path segments are compared. Empty = none is allowed
 */
export function allowedReturnTo(address: string, prefixes: readonly string[]): URL | null {
  const url = parseStrictly(address);
  if (url === null || url.username !== '' || url.password !== '' || address.includes('#')) {
    return null;
  }
  if (authorityOf(address).includes('@') || AMBIGUOUS_PATH.test(url.pathname)) {
    return null;
  }
  return prefixes.some((prefix) => isUnder(url, new URL(prefix))) ? url : null;
}

function isUnder(url: URL, prefix: URL): boolean {
  if (url.protocol !== prefix.protocol || url.host !== prefix.host) {
    return false;
  }
  const base = prefix.pathname.replace(/\/$/, '');
  return url.pathname === base || url.pathname.startsWith(`${base}/`);
}

/** Reads the raw authority, because the parsed address does not show an empty user name. */
function authorityOf(address: string): string {
  return /^[^:]+:\/\/([^/?]*)/.exec(address)?.[1] ?? '';
}
