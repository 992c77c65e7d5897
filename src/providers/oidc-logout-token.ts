import { jwtVerify, type JWTPayload } from 'jose';
import type { Clock } from '../common/clock.js';
import type { OidcDiscovery } from './oidc-discovery.js';
import { CLOCK_TOLERANCE_SECONDS, SIGNATURE_ALGORITHMS } from './oidc-id-token.js';
import type { OidcKeys } from './oidc-keys.js';

/** What a provider said has ended. */
export interface LogoutNotice {
  readonly subject: string;
  /** Its `jti`: a notice passes once. */
  readonly tokenId: string;
}

/** A provider that can say so by itself. */
export interface LogoutNotifier {
  /** @throws an error of jose, UpstreamError: it is not this provider's word, or not for us */
  verifyLogoutToken(token: string): Promise<LogoutNotice>;
}

export function isLogoutNotifier(provider: object): provider is LogoutNotifier {
  return 'verifyLogoutToken' in provider;
}

/** Notices older than this are refused, whatever expiry they carry. */
export const MAX_LOGOUT_TOKEN_AGE_SECONDS = 300;

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Verifies logout tokens (OpenID Connect Back-Channel Logout 1.0, 2.6). */
export class LogoutTokens {
  constructor(
    private readonly clientId: string,
    private readonly discovery: OidcDiscovery,
    private readonly keys: OidcKeys,
    private readonly clock: Clock,
  ) {}

  async verify(token: string): Promise<LogoutNotice> {
    const metadata = await this.discovery.metadata();
    const { payload, protectedHeader } = await jwtVerify(
      token,
      (header, jws) => this.keys.find(String(metadata.jwks_uri), header, jws),
      {
        issuer: metadata.issuer,
        audience: this.clientId,
        algorithms: [...SIGNATURE_ALGORITHMS],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        // `exp` came with the final text: older providers leave it out, so `iat` has to be fresh.
        maxTokenAge: MAX_LOGOUT_TOKEN_AGE_SECONDS,
        requiredClaims: ['iat', 'jti'],
        currentDate: new Date(this.clock.now()),
      },
    );
    return noticeIn(payload, protectedHeader.typ);
  }
}

/** A session alone (`sid`) names nobody here: sessions of the provider are not kept. */
function noticeIn(payload: JWTPayload, type: string | undefined): LogoutNotice {
  const { sub, jti, nonce, events } = payload;
  const event: unknown =
    typeof events === 'object' && events !== null && Object.hasOwn(events, EVENT)
      ? (events as Record<string, unknown>)[EVENT]
      : undefined;
  const isLogout =
    // Neither an ID token nor any other JWT of this provider may pass (RFC 8725, 3.11).
    /^(application\/)?logout\+jwt$/i.test(type ?? '') &&
    typeof event === 'object' &&
    event !== null &&
    nonce === undefined;
  if (!isLogout || typeof sub !== 'string' || sub === '' || typeof jti !== 'string') {
    throw new TypeError('This is not a logout token about somebody.');
  }
  return { subject: sub, tokenId: jti };
}
