import { createHash } from 'node:crypto';
import { jwtVerify, type JWTPayload } from 'jose';
import type { ServerMetadata } from 'openid-client';
import type { Clock } from '../common/clock.js';
import { ProviderError } from './identity-provider.js';
import type { OidcKeys } from './oidc-keys.js';

/** Asymmetric signatures only: neither `none`, nor HS* with a client secret as the key. */
export const SIGNATURE_ALGORITHMS: readonly string[] = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

export const CLOCK_TOLERANCE_SECONDS = 30;

/** An ID token is made for the answer it comes in: an older one is a replay. */
const MAX_TOKEN_AGE_SECONDS = 600;

/** OpenID Connect Core 2: a subject has at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/**
 * Verifies what openid-client leaves open about an ID token from the token endpoint (OpenID Connect
 * Core 3.1.3.7): the signature, always (ASVS 9.1.2), the age, foreign audiences, `azp` and `at_hash`.
 */
export class IdTokens {
  constructor(
    private readonly clientId: string,
    private readonly keys: OidcKeys,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ProviderError `invalid_response`, UpstreamError, or an error of jose
   */
  async verify(
    idToken: string,
    accessToken: string,
    metadata: ServerMetadata,
  ): Promise<JWTPayload> {
    const { payload, protectedHeader } = await jwtVerify(
      idToken,
      (header, token) => this.keys.find(String(metadata.jwks_uri), header, token),
      {
        issuer: metadata.issuer,
        audience: this.clientId,
        algorithms: [...SIGNATURE_ALGORITHMS],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        maxTokenAge: MAX_TOKEN_AGE_SECONDS,
        requiredClaims: ['sub', 'exp', 'iat'],
        currentDate: new Date(this.clock.now()),
      },
    );
    const isOurs =
      SUBJECT.test(payload.sub ?? '') &&
      [payload.aud].flat().every((audience) => audience === this.clientId) &&
      (payload['azp'] === undefined || payload['azp'] === this.clientId) &&
      fitsHash(payload['at_hash'], accessToken, protectedHeader.alg);
    if (!isOurs) {
      throw new ProviderError('invalid_response');
    }
    return payload;
  }
}

/** OpenID Connect Core 3.1.3.6: the left half of the hash that belongs to the signature. */
function fitsHash(hash: unknown, accessToken: string, algorithm: string): boolean {
  if (hash === undefined) {
    return true;
  }
  const bits = /(?:256|384|512)$/.exec(algorithm)?.[0] ?? '512';
  const digest = createHash(`sha${bits}`).update(accessToken).digest();
  return hash === digest.subarray(0, digest.length / 2).toString('base64url');
}
