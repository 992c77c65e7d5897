import { decodeJwt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import * as v from 'valibot';
import { hasDuplicateNames } from '../../common/duplicate-names.js';
import type { Clock } from '../../common/runtime/clock.js';
import { BearerTokens } from '../../config/providers-file/bearer-tokens.js';
import {
  SIGNATURE_ALGORITHMS,
  type SharedSignalsSettings,
} from '../../config/providers-file/provider-settings.js';
import type { RemoteKeySet } from '../http/remote-key-set.js';
import { readJson, UpstreamError, type UpstreamHttp } from '../http/upstream-http.js';

/** Errors of a transmission (RFC 8935, 2.4). */
export type SetFailure =
  | 'invalid_request'
  | 'invalid_key'
  | 'invalid_issuer'
  | 'invalid_audience'
  | 'authentication_failed';

export class SetError extends Error {
  override readonly name = 'SetError';

  /** @param message for the sender; it quotes nothing of the event */
  constructor(
    readonly failure: SetFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface ReceivedSet {
  /** The `jti`, which has an effect once. */
  readonly id: string;
  /** The address of its event. */
  readonly event: string;
  readonly subject: unknown;
  /** When it happened, Unix milliseconds. */
  readonly at: number;
  readonly txn: string | null;
}

const TYPE = 'secevent+jwt';
const MAX_AGE_SECONDS = 7 * 86_400;
const MAX_AHEAD_SECONDS = 300;
const METADATA_MAX_AGE_MS = 3_600_000;

/** A used `jti` is remembered for longer than its token could be accepted again. */
export const SET_REMEMBERED_MS = (MAX_AGE_SECONDS + 86_400) * 1000;

const METADATA = v.object({ issuer: v.string(), jwks_uri: v.pipe(v.string(), v.url()) });

const NAME = v.pipe(v.string(), v.nonEmpty(), v.maxLength(512));

/** SSF 1.0, 4.1: one event and its subject; never `sub` or `exp`, which tokens of access have. */
const CLAIMS = v.object({
  jti: NAME,
  iat: v.number(),
  sub: v.optional(v.undefined()),
  exp: v.optional(v.undefined()),
  sub_id: v.optional(v.unknown()),
  txn: v.optional(NAME),
  events: v.pipe(
    v.record(v.string(), v.looseObject({ event_timestamp: v.optional(v.number()) })),
    v.check((events) => Object.keys(events).length === 1),
  ),
});

/** Verifies the events of one transmitter. */
export class SecurityEventTokens {
  private readonly pushTokens: BearerTokens | null;
  private jwksUri: string | null = null;
  private staleAt = 0;

  constructor(
    readonly settings: SharedSignalsSettings,
    private readonly http: UpstreamHttp,
    private readonly keys: RemoteKeySet,
    private readonly clock: Clock,
  ) {
    this.pushTokens = settings.push && new BearerTokens(clock, settings.push);
  }

  /** @param token of the request; undefined = none. @throws SetError `authentication_failed` */
  async authenticate(token: string | undefined): Promise<void> {
    const isTrusted = this.pushTokens === null || (await this.pushTokens.include(token ?? ''));
    if (!isTrusted) {
      throw new SetError('authentication_failed', 'Send the token of this stream.');
    }
  }

  /** @throws SetError; UpstreamError when the keys cannot be read, so that it has to be sent again */
  async verify(token: string): Promise<ReceivedSet> {
    this.refuseForeign(token);
    const jwksUri = await this.currentJwksUri();
    const payload = await jwtVerify(token, (header, jws) => this.keys.find(jwksUri, header, jws), {
      ...{ issuer: this.settings.transmitter, audience: this.settings.audience, typ: TYPE },
      algorithms: [...SIGNATURE_ALGORITHMS],
      currentDate: new Date(this.clock.now()),
    }).then(
      (verified) => verified.payload,
      (error: unknown) => {
        throw failureOf(error);
      },
    );
    return this.read(payload);
  }

  private read(payload: JWTPayload): ReceivedSet {
    const { success, output } = v.safeParse(CLAIMS, payload);
    if (!success) {
      throw new SetError('invalid_request', 'The claims are not those of a security event.');
    }
    const { jti, iat, events, sub_id: subject, txn = null } = output;
    const now = this.clock.now() / 1000;
    if (iat > now + MAX_AHEAD_SECONDS || iat < now - MAX_AGE_SECONDS) {
      throw new SetError('invalid_request', 'The time of issue (iat) is not acceptable.');
    }
    const [[event, { event_timestamp: happened = iat }] = ['', {}]] = Object.entries(events);
    // A time in the future would outlast every later event.
    return { id: jti, event, subject, at: Math.min(happened, now) * 1000, txn };
  }

  /** Refuses by its text alone, so that strangers cause no request to the transmitter. */
  private refuseForeign(token: string): void {
    const { header, claims } = decode(token);
    const { transmitter, audience } = this.settings;
    if (claims.iss !== transmitter) {
      throw new SetError('invalid_issuer', 'The issuer is not the transmitter of this stream.');
    }
    if (![claims.aud].flat().includes(audience)) {
      throw new SetError('invalid_audience', 'The event is for another audience.');
    }
    const isTyped = /^(application\/)?secevent\+jwt$/i.test(header.typ ?? '');
    if (!isTyped || header.alg === 'none' || hasDuplicateNames(token)) {
      throw new SetError('invalid_request', 'This is not a signed security event token.');
    }
  }

  private async currentJwksUri(): Promise<string> {
    const now = this.clock.now();
    if (this.jwksUri === null || now >= this.staleAt) {
      this.jwksUri = await this.readMetadata().catch((error: unknown) => {
        if (this.jwksUri === null) {
          throw error;
        }
        return this.jwksUri;
      });
      this.staleAt = now + METADATA_MAX_AGE_MS;
    }
    return this.jwksUri;
  }

  /** The path goes between the host and that of the issuer (SSF 1.0, 7.2.1). */
  private async readMetadata(): Promise<string> {
    const { origin, pathname } = new URL(this.settings.transmitter);
    const path = pathname === '/' ? '' : pathname;
    const address = `${origin}/.well-known/ssf-configuration${path}`;
    const response = await this.http.fetch(address, { headers: { accept: 'application/json' } });
    if (response.status !== 200) {
      throw new UpstreamError('unexpected_answer');
    }
    const { issuer, jwks_uri: jwksUri } = await readJson(response, METADATA);
    if (issuer !== this.settings.transmitter) {
      throw new UpstreamError('bad_discovery');
    }
    return jwksUri;
  }
}

function decode(token: string) {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch (error) {
    throw new SetError('invalid_request', 'This is not a JWT.', { cause: error });
  }
}

function failureOf(error: unknown): Error {
  if (error instanceof UpstreamError) {
    return error;
  }
  const isKey =
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JWSSignatureVerificationFailed;
  return isKey
    ? new SetError('invalid_key', 'No published key verifies the signature.', { cause: error })
    : new SetError('invalid_request', 'The event is not acceptable.', { cause: error });
}
