/** Parts that a program behind the address could read as another path. */
const AMBIGUOUS_PATH = /%(?:2f|5c|00|0a|0d)/i;

/**
 * Where the browser may be sent with a login code: the address, as a URL parser reads it.
 *
 * @param prefixes full addresses; origin and path segments count. Empty = none is allowed
 * @returns null when the address is none that the operator allowed
 */
export function allowedReturnTo(address: string, prefixes: readonly string[]): URL | null {
  // URL parsers drop tabs and line breaks silently, and read a backslash as a slash.
  if (/[\s\p{Cc}\\]/u.test(address) || !URL.canParse(address)) {
    return null;
  }
  const url = new URL(address);
  if (url.username !== '' || url.password !== '' || address.includes('#')) {
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
