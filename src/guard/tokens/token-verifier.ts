import { errors, jwtVerify } from 'jose';
import { hasDuplicateNames } from '../../common/duplicate-names.js';
import { accessFrom, REQUIRED_CLAIMS, type Access } from '../access.js';
import type { RefusalCode } from '../access-refused.js';
import type { GuardRuntime, GuardSettings } from '../guard-options.js';
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

  /** @returns the access, or the reason of a refusal */
  async verify(token: string): Promise<Access | RefusalCode> {
    const { issuer, resource, tokenAlg } = this.settings;
    const now = this.runtime.clock.now();
    try {
      const { payload } = await jwtVerify(token, this.keys.find, {
        ...{ algorithms: [tokenAlg], typ: TYPE, issuer, audience: resource },
        ...{ requiredClaims: REQUIRED_CLAIMS, currentDate: new Date(now) },
      });
      const access = accessFrom(payload, { issuer, resource, now });
      return access === null || hasDuplicateNames(token) ? 'invalid-token' : access;
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        return 'token-expired';
      }
      if (error instanceof errors.JOSEError) {
        return 'invalid-token';
      }
      return 'unavailable';
    }
  }
}
