import { errors, jwtVerify } from 'jose';
import { isAmbiguousJwt } from '../../../common/ambiguous-jwt.js';
import { accessFrom, MAX_SKEW_SECONDS, REQUIRED_CLAIMS, type Access } from '../access.js';
import type { RefusedToken } from '../access-refused.js';
import type { GuardRuntime, GuardSettings } from '../guard-options.js';
import { IssuerFault } from '../issuer/issuer-http.js';
import type { KeySet } from './key-set.js';

/** The type of access tokens as JWT (RFC 9068, 2.1): no other token passes as one. */
const TYPE = 'at+jwt';
export const MAX_TOKEN_LENGTH = 8192;

/** Verifies access tokens with the keys of the issuer. */
export class TokenVerifier {
  constructor(
    private readonly settings: Pick<GuardSettings, 'issuer' | 'resource' | 'tokenAlg'>,
    private readonly runtime: GuardRuntime,
    private readonly keys: KeySet,
  ) {}

  async verify(token: string): Promise<Access | RefusedToken> {
    const { issuer, resource } = this.settings;
    const now = this.runtime.clock.now();
    try {
      const { payload } = await this.read(token, now);
      const access = accessFrom(payload, { issuer, resource, now });
      if (typeof access === 'string') {
        return invalid(access);
      }
      return isAmbiguousJwt(token) ? invalid('it repeats a claim') : access;
    } catch (error) {
      return this.refusalOf(error);
    }
  }

  /**
   * Finds a token about which Gatehouse need not be asked: another issuer signed it, or it has expired by the
   * clock of Gatehouse, too.
   *
   * @returns null for any other token
   */
  async findUseless(token: string): Promise<RefusedToken | null> {
    try {
      await this.read(token, this.runtime.clock.now(), MAX_SKEW_SECONDS);
      return null;
    } catch (error) {
      return this.refusalOf(error);
    }
  }

  private read(token: string, now: number, clockTolerance = 0): ReturnType<typeof jwtVerify> {
    const { issuer, resource, tokenAlg } = this.settings;
    return jwtVerify(token, this.keys.find, {
      algorithms: [tokenAlg],
      typ: TYPE,
      issuer,
      audience: resource,
      requiredClaims: REQUIRED_CLAIMS,
      currentDate: new Date(now),
      clockTolerance,
    });
  }

  private refusalOf(error: unknown): RefusedToken {
    const { issuer, resource, tokenAlg } = this.settings;
    if (error instanceof errors.JWTExpired) {
      return { code: 'token-expired', reason: 'it has expired' };
    }
    if (error instanceof errors.JWTClaimValidationFailed) {
      const expected: Readonly<Record<string, string>> = {
        iss: `its issuer is not ${issuer}`,
        aud: `its audience is not ${resource}`,
        typ: `its type is not ${TYPE}`,
      };
      return invalid(expected[error.claim] ?? `its "${error.claim}" is missing or not accepted`);
    }
    if (error instanceof errors.JOSEAlgNotAllowed) {
      return invalid(`its algorithm is not ${tokenAlg}`);
    }
    if (error instanceof errors.JWKSNoMatchingKey) {
      return invalid('it is signed with none of the keys of Gatehouse');
    }
    if (error instanceof errors.JWSSignatureVerificationFailed) {
      return invalid('its signature is wrong');
    }
    if (error instanceof errors.JOSEError) {
      return invalid('it is not a signed JWT');
    }
    const reason = error instanceof IssuerFault ? error.message : 'unknown';
    return { code: 'unavailable', reason: `the keys cannot be read: ${reason}` };
  }
}

function invalid(reason: string): RefusedToken {
  return { code: 'invalid-token', reason };
}
