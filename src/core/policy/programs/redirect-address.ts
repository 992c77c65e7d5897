/** Hosts of the same computer by which programs receive codes (RFC 8252, 7.3). */
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Schemes that run code, read files or are meant for the network: no program owns them. */
const REFUSED_SCHEMES = ['javascript:', 'data:', 'file:', 'vbscript:', 'blob:', 'about:', 'ws:'];

function isLoopbackRedirect(address: string): boolean {
  const url = parse(address);
  return url !== null && url.protocol === 'http:' && LOOPBACK.includes(url.hostname);
}

/**
 * Judges an address to which a code may be sent (RFC 9700, 4.1): https, http on loopback, and the
 * scheme of an app only where the operator configured it.
 */
export function isRedirectAllowable(address: string, allowsAppSchemes: boolean): boolean {
  const url = parse(address);
  if (url === null) {
    return false;
  }
  if (url.protocol === 'https:') {
    return url.hostname !== '';
  }
  if (url.protocol === 'http:') {
    return LOOPBACK.includes(url.hostname);
  }
  return allowsAppSchemes && !REFUSED_SCHEMES.includes(url.protocol);
}

/**
 * Compares an address with a registered one: character by character, but for the port of a loopback
 * address, which the system chooses (RFC 8252, 7.3).
 */
export function isRegisteredRedirect(registered: string, given: string): boolean {
  if (registered === given) {
    return true;
  }
  const [known, asked] = [parse(registered), parse(given)];
  return (
    known !== null &&
    asked !== null &&
    isLoopbackRedirect(registered) &&
    isLoopbackRedirect(given) &&
    known.hostname === asked.hostname &&
    known.pathname === asked.pathname &&
    known.search === asked.search
  );
}

/** @returns null for what has a fragment, a user name, or that a parser would read differently */
function parse(address: string): URL | null {
  if (/[\s\p{Cc}\\#*]/u.test(address) || !URL.canParse(address)) {
    return null;
  }
  const url = new URL(address);
  const [, authority = ''] = /^[a-z][a-z0-9+.-]*:\/\/([^/?]*)/i.exec(address) ?? [];
  return url.username === '' && url.password === '' && !authority.includes('@') ? url : null;
}
