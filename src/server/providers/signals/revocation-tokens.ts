import { decodeJwt, decodeProtectedHeader, type JWTPayload } from 'jose';
import type { Clock } from '../../../common/runtime/clock.js';
import { isAmbiguousJwt } from '../../../common/ambiguous-jwt.js';
import {
  SIGNATURE_ALGORITHMS,
  type GlobalTokenRevocationSettings,
} from '../../config/providers-file/provider-settings.js';
import type { RemoteKeySet } from '../http/remote-key-set.js';

/** Without it, an ID token of the same issuer and key would pass as one. */
const TYPE = 'global-token-revocation+jwt';
const LONGEST_ID = 512;
const CLOCK_TOLERANCE_SECONDS = 30;

/** A token must expire within this time from now. */
export const MAX_REVOCATION_TOKEN_SECONDS = 300;

/** A valid token of the issuer whose subject is not the configured sender. */
export class ForeignSenderError extends Error {
  override readonly name = 'ForeignSenderError';
}

/** Tokens of universal logout, as Okta and Auth0 send them. */
export class RevocationTokens {
  constructor(
    readonly settings: GlobalTokenRevocationSettings,
    private readonly keys: RemoteKeySet,
    private readonly clock: Clock,
  ) {}

  /**
   * @returns the `jti`
   * @throws UpstreamError without keys; ForeignSenderError; TypeError or an error of jose
   */
  async verify(token: string): Promise<string> {
    this.refuseForeign(token);
    const { issuer, subject, endpoint: audience, jwksUri } = this.settings;
    const { payload } = await this.keys.verify(jwksUri, token, {
      issuer,
      audience,
      typ: TYPE,
      requiredClaims: ['sub', 'exp', 'jti'],
      algorithms: [...SIGNATURE_ALGORITHMS],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: new Date(this.clock.now()),
    });
    const id = this.idOf(payload);
    if (payload.sub !== subject) {
      throw new ForeignSenderError('The token is of another sender of this issuer.');
    }
    return id;
  }

  private idOf({ jti, exp = Infinity, iat = 0 }: JWTPayload): string {
    const now = this.clock.now() / 1000;
    if (exp > now + MAX_REVOCATION_TOKEN_SECONDS + CLOCK_TOLERANCE_SECONDS) {
      throw new TypeError('The token is valid for too long.');
    }
    if (iat > now + CLOCK_TOLERANCE_SECONDS) {
      throw new TypeError('The token was issued in the future.');
    }
    if (typeof jti !== 'string' || jti === '' || jti.length > LONGEST_ID) {
      throw new TypeError('The id of the token is not valid.');
    }
    return jti;
  }

  /** Refuses by its text alone, so that strangers cause no request for the keys. */
  private refuseForeign(token: string): void {
    const { typ } = decodeProtectedHeader(token);
    const { iss, aud } = decodeJwt(token);
    const { issuer, endpoint } = this.settings;
    const [audience, ...others] = [aud].flat();
    const isOurs = iss === issuer && audience === endpoint;
    if (!isOurs || others.length > 0 || typ === undefined || isAmbiguousJwt(token)) {
      throw new TypeError('This is not a token for universal logout here.');
    }
  }
}
