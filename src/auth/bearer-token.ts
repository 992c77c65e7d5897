const BEARER = /^Bearer +([^\s]+) *$/i;

/** The credentials of an `Authorization: Bearer …` header (RFC 6750, 2.1); undefined when none. */
export function bearerTokenFrom(header: string | undefined): string | undefined {
  return header === undefined ? undefined : BEARER.exec(header)?.[1];
}
