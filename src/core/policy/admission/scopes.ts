/** The `client_id` of tokens that a session was exchanged for. Any other one is a program. */
export const SESSION_CLIENT = 'gatehouse';

/** Printable ASCII without a space, a quotation mark or a backslash (RFC 6749, 3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/**
 * Returns true for claims of a token whose holder is the person. One with scopes is limited to them, so it
 * is not.
 */
export function isOfPerson(claims: Readonly<Record<string, unknown>>): boolean {
  return claims['client_id'] === SESSION_CLIENT && claims['scope'] === undefined;
}

/** Returns the scopes of a list with single spaces; null for any other value, also an empty list. */
export function scopesIn(list: unknown): readonly string[] | null {
  const scopes = typeof list === 'string' ? list.split(' ') : [''];
  return scopes.every((one) => SCOPE.test(one)) ? [...new Set(scopes)] : null;
}
