/** Schemes that run code, read files or travel unprotected: no setting can allow them. */
const REFUSED_SCHEMES = ['javascript', 'data', 'file', 'vbscript', 'http', 'blob', 'about'];

export interface ReturnAddressFacts {
  readonly returnUrlBase: string | null;
  readonly webappUrl: string | null;
  /** Of the server, where it hosts the account page; null = it does not, or its address is not set. */
  readonly hostedUrl: string | null;
}

export type ReturnAddressVerdict =
  | { readonly safe: true }
  /** `reason` completes "the address ...". */
  | { readonly safe: false; readonly reason: string };

/** Whether an operator may list the scheme as one that a return address has. */
export function isAllowableScheme(scheme: string): boolean {
  return !REFUSED_SCHEMES.includes(scheme.toLowerCase());
}

/**
 * Whether the browser may be sent to the address after OAuth: https, http on a loopback host, or a
 * scheme of `allowedSchemes` (empty = none beyond those two).
 */
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

/**
 * Where the browser returns for one provider (contract, External providers): the return base, else
 * the web app, else the page this server hosts; null when none of the three is known.
 */
export function returnAddressFor(facts: ReturnAddressFacts, providerId: string): string | null {
  if (facts.returnUrlBase !== null) {
    return joined(facts.returnUrlBase, providerId);
  }
  if (facts.webappUrl !== null) {
    return joined(facts.webappUrl, `oauth/${providerId}`);
  }
  return facts.hostedUrl === null ? null : joined(facts.hostedUrl, `app/oauth/${providerId}`);
}

/** Whether the host name is this machine, as browsers and RFC 8252 see it. */
export function isLoopbackHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
  );
}

/** `myapp://` already ends where the provider begins. */
function joined(base: string, path: string): string {
  return base.endsWith('/') ? `${base}${path}` : `${base}/${path}`;
}

/**
 * URL parsers drop tabs and line breaks silently, which is how "java\nscript:" gets past a list, and
 * read a backslash as a slash.
 */
function parseStrictly(address: string): URL | null {
  const isFull = !/[\s\p{Cc}\\]/u.test(address) && URL.canParse(address);
  return isFull ? new URL(address) : null;
}

function unsafe(reason: string): ReturnAddressVerdict {
  return { safe: false, reason };
}

/** Parts that a program behind the address could read as another path. */
const AMBIGUOUS_PATH = /%(?:2f|5c|00|0a|0d)/i;

/**
 * Where the browser may be sent with a login code: the address, as a URL parser reads it.
 *
 * @param prefixes full addresses; origin and path segments count. Empty = none is allowed
 * @returns null when the address is none that the operator allowed
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

/** An empty user name leaves no trace in the parsed address. */
function authorityOf(address: string): string {
  return /^[^:]+:\/\/([^/?]*)/.exec(address)?.[1] ?? '';
}
