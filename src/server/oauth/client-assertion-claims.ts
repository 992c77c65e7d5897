import {
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from 'jose';
import { isAmbiguousJwt } from '../../common/ambiguous-jwt.js';
import type { ClientSettings } from '../config/resource-servers/client-settings.js';

/** Difference between the clocks of a backend and of this server. */
export const CLOCK_TOLERANCE_SECONDS = 30;

const LONGEST_ID = 256;
/** Types of other tokens never authenticate a client (RFC 8725, 3.11). */
const TYPES = [undefined, 'jwt', 'client-authentication+jwt'];

/** Rules of assertions by the method of the client. Times are in seconds. */
const RULES = {
  'private-key': { longestLife: 300, isIssuedAtNeeded: false, isIdNeeded: true },
  kubernetes: { longestLife: 3600, isIssuedAtNeeded: true, isIdNeeded: false },
} as const;

export type AssertionMethod = keyof typeof RULES;

/** A JWT as its text claims to be: nothing of it is verified. */
export interface DecodedAssertion {
  readonly header: ProtectedHeaderParameters;
  readonly claims: JWTPayload;
}

/** @returns null for a text that is no JWT, or one that repeats a name */
export function decodeAssertion(assertion: string): DecodedAssertion | null {
  try {
    const decoded = { header: decodeProtectedHeader(assertion), claims: decodeJwt(assertion) };
    return isAmbiguousJwt(assertion) ? null : decoded;
  } catch {
    return null;
  }
}

/** Issuer and subject that the assertions of a client have; null = it authenticates by a secret. */
export function assertedBy(
  id: string,
  client: ClientSettings,
): { readonly issuer: string; readonly subject: string } | null {
  switch (client.method) {
    case 'secret':
      return null;
    case 'private-key':
      return { issuer: id, subject: id };
    case 'kubernetes':
      return { issuer: client.issuer, subject: client.subject };
  }
}

/**
 * Judges the type, the audience and the times of an assertion (RFC 7523, 3).
 *
 * @param audience the issuer of this server, which must be the only audience: another one could
 *   present the assertion here
 * @param now Unix seconds
 * @returns the reason against it, for the log, or null
 */
export function assertionFailure(
  { header, claims }: DecodedAssertion,
  method: AssertionMethod,
  audience: string,
  now: number,
): string | null {
  const { longestLife, isIssuedAtNeeded, isIdNeeded } = RULES[method];
  const { aud, exp, nbf, iat, jti } = claims;
  const audiences = [aud].flat();
  const latest = now + CLOCK_TOLERANCE_SECONDS;
  if (!TYPES.includes(header.typ?.toLowerCase().replace(/^application\//, ''))) {
    return 'its type (typ) is that of another token';
  }
  if (audiences.length !== 1 || audiences[0] !== audience) {
    return 'its audience (aud) is not exactly SERVICE_PUBLIC_URL';
  }
  if (![exp, nbf ?? 0, iat ?? 0].every(Number.isFinite) || exp === undefined) {
    return 'its times (exp, nbf, iat) are missing or no numbers';
  }
  if (isIssuedAtNeeded && iat === undefined) {
    return 'it does not say when it was issued (iat)';
  }
  if (exp <= now - CLOCK_TOLERANCE_SECONDS) {
    return 'it has expired';
  }
  if ((nbf ?? 0) > latest || (iat ?? 0) > latest) {
    return 'it is not valid yet';
  }
  if (exp > latest + longestLife || exp - (iat ?? exp) > longestLife) {
    return `it lives longer than ${longestLife} seconds`;
  }
  if (isIdNeeded && (typeof jti !== 'string' || jti === '' || jti.length > LONGEST_ID)) {
    return `it has no id (jti) of 1 to ${LONGEST_ID} characters`;
  }
  return null;
}
