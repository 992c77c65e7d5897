/** Returns the origin as a browser sends it: lower case, punycode, no default port. null = none. */
export function canonicalOrigin(text: string): string | null {
  if (!/^https?:/i.test(text)) {
    return text.toLowerCase();
  }
  return URL.canParse(text) ? new URL(text).origin : null;
}

/** @returns true if a page, or an app, names the server of the request as its origin */
export function isSameOrigin(origin: string, host: string | undefined): boolean {
  const [scheme] = /^https?:/i.exec(origin) ?? [];
  const own = canonicalOrigin(`${scheme}//${host}`);
  return (
    scheme !== undefined && host !== undefined && own !== null && own === canonicalOrigin(origin)
  );
}
