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
  // URL parsers drop tabs and line breaks silently, which is how "java\nscript:" gets past a list.
  if (/[\s\p{Cc}\\]/u.test(address) || !URL.canParse(address)) {
    return unsafe('is not a full address');
  }
  const url = new URL(address);
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

function unsafe(reason: string): ReturnAddressVerdict {
  return { safe: false, reason };
}
