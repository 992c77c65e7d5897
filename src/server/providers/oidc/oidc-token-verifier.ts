import { createHash } from 'node:crypto';
import {
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose';
import type { ServerMetadata } from 'openid-client';
import * as v from 'valibot';
import type { Clock } from '../../../common/runtime/clock.js';
import {
  type OidcProviderSettings,
  SIGNATURE_ALGORITHMS,
} from '../../config/providers-file/provider-settings.js';
import {
  MAX_LOGOUT_TOKEN_AGE_SECONDS,
  ProviderError,
  type LogoutNotice,
} from '../identity-provider.js';
import { claimDetail } from '../provider-failure.js';
import { RemoteKeySet } from '../http/remote-key-set.js';
import type { UpstreamHttp } from '../http/upstream-http.js';

const CLOCK_TOLERANCE_SECONDS = 30;

/** An ID token is issued for the response that contains it: an older one is a replay. */
const MAX_ID_TOKEN_AGE_SECONDS = 600;

/** OpenID Connect Core 2: a subject has at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

const SESSION = v.pipe(v.string(), v.nonEmpty(), v.maxLength(512));

/** Back-Channel Logout 1.0, 2.4: `sub`, `sid` or both; never a `nonce`, which ID tokens have. */
const LOGOUT_CLAIMS = v.pipe(
  v.object({
    sub: v.optional(v.pipe(v.string(), v.regex(SUBJECT))),
    sid: v.optional(SESSION),
    jti: v.pipe(v.string(), v.nonEmpty()),
    nonce: v.optional(v.undefined()),
    events: v.object({ 'http://schemas.openid.net/event/backchannel-logout': v.object({}) }),
  }),
  v.check(({ sub, sid }) => sub !== undefined || sid !== undefined),
);

export function sessionIn(claims: Readonly<Record<string, unknown>>): string | null {
  return v.is(SESSION, claims['sid']) ? claims['sid'] : null;
}

export class OidcTokenVerifier {
  private readonly logoutKeys: RemoteKeySet;

  /** @param logoutHttp for the keys of logout tokens, with which anyone can cause requests */
  constructor(
    private readonly settings: OidcProviderSettings,
    private readonly keys: RemoteKeySet,
    logoutHttp: UpstreamHttp,
    private readonly clock: Clock,
  ) {
    this.logoutKeys = new RemoteKeySet(logoutHttp, clock);
  }

  /**
   * Verifies what openid-client does not check (OpenID Connect Core 3.1.3.7): the signature, always
   * (ASVS 9.1.2), the age, foreign audiences, `azp`, `at_hash`.
   */
  async verifyIdToken(
    idToken: string,
    accessToken: string,
    metadata: ServerMetadata,
  ): Promise<JWTPayload> {
    const { payload, protectedHeader } = await this.verify(this.keys, idToken, metadata, {
      maxTokenAge: MAX_ID_TOKEN_AGE_SECONDS,
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    const { clientId, trustedAudiences } = this.settings;
    const trusted = [clientId, ...trustedAudiences];
    const claims = {
      sub: SUBJECT.test(payload.sub ?? ''),
      aud: [payload.aud].flat().every((audience) => trusted.includes(String(audience))),
      azp: payload['azp'] === undefined || payload['azp'] === clientId,
      at_hash: fitsHash(payload['at_hash'], accessToken, protectedHeader.alg),
    };
    const wrong = Object.entries(claims).find(([, isRight]) => !isRight);
    if (wrong !== undefined) {
      throw new ProviderError('invalid_response', { detail: claimDetail(wrong[0]) });
    }
    return payload;
  }

  /** Only the final text (2.6) requires `exp`; older providers omit it: `iat` must be recent. */
  async verifyLogoutToken(token: string, metadata: ServerMetadata): Promise<LogoutNotice> {
    const { payload, protectedHeader } = await this.verify(this.logoutKeys, token, metadata, {
      maxTokenAge: MAX_LOGOUT_TOKEN_AGE_SECONDS,
      requiredClaims: ['iat', 'jti'],
    });
    const claims = v.safeParse(LOGOUT_CLAIMS, payload);
    const { logoutTokenType } = this.settings;
    // Without a type, the claims distinguish it from an ID token and other JWTs (RFC 8725, 3.11 and 3.12).
    const isTyped = /^(application\/)?logout\+jwt$/i.test(protectedHeader.typ ?? '');
    if (!claims.success || (logoutTokenType === 'logout+jwt' && !isTyped)) {
      throw new TypeError('This is not a logout token.');
    }
    const { sub = null, sid = null, jti } = claims.output;
    const { issuer } = metadata;
    return { subject: sub, providerSession: sid, tokenId: jti, issuer };
  }

  /** Refuses by its text alone, so that strangers cause no request to the provider. */
  refuseForeignLogoutToken(token: string): void {
    const { alg = 'none' } = decodeProtectedHeader(token);
    const { iss, aud } = decodeJwt(token);
    const isSigned = SIGNATURE_ALGORITHMS.some((known) => known === alg) && !token.endsWith('.');
    const { issuer, clientId } = this.settings;
    if (!isSigned || iss !== issuer || ![aud].flat().includes(clientId)) {
      throw new TypeError('This is not a logout token for this client.');
    }
  }

  private verify(
    keys: RemoteKeySet,
    token: string,
    metadata: ServerMetadata,
    required: Pick<JWTVerifyOptions, 'maxTokenAge' | 'requiredClaims'>,
  ): Promise<JWTVerifyResult> {
    return keys.verify(String(metadata.jwks_uri), token, {
      issuer: metadata.issuer,
      audience: this.settings.clientId,
      algorithms: this.algorithmsOf(metadata),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      ...required,
      currentDate: new Date(this.clock.now()),
    });
  }

  /** Uses the client's registered algorithm, else those that the provider lists. */
  private algorithmsOf(metadata: ServerMetadata): string[] {
    const { idTokenSigningAlg } = this.settings;
    const listed = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
    return idTokenSigningAlg === null
      ? SIGNATURE_ALGORITHMS.filter((algorithm) => listed.includes(algorithm))
      : [idTokenSigningAlg];
  }
}

/** The claim is the left half of the hash (OpenID Connect Core 3.1.3.6). */
function fitsHash(hash: unknown, accessToken: string, algorithm: string): boolean {
  if (hash === undefined) {
    return true;
  }
  const bits = /(?:256|384|512)$/.exec(algorithm)?.[0] ?? '512';
  const digest = createHash(`sha${bits}`).update(accessToken).digest();
  return hash === digest.subarray(0, digest.length / 2).toString('base64url');
}
