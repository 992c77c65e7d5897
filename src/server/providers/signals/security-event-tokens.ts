import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload } from 'jose';
import * as v from 'valibot';
import { isAmbiguousJwt } from '../../../common/ambiguous-jwt.js';
import type { Clock } from '../../../common/runtime/clock.js';
import { BearerTokens } from '../../config/providers-file/bearer-tokens.js';
import {
  SIGNATURE_ALGORITHMS,
  type SharedSignalsSettings,
} from '../../config/providers-file/provider-settings.js';
import type { RemoteKeySet } from '../http/remote-key-set.js';
import { UpstreamError } from '../http/upstream-http.js';
import type { TransmitterMetadata } from './transmitter-metadata.js';

/** Errors of a transmission (RFC 8935, 2.4; SSF 1.0, 8.1.4.1). */
type SetFailure =
  | 'invalid_request'
  | 'invalid_key'
  | 'invalid_issuer'
  | 'invalid_audience'
  | 'invalid_state'
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
  /** `event_timestamp`, else `iat`, in Unix milliseconds: the newest event of a person counts. */
  readonly at: number;
  /** `toe`, else as above: when the cause happened at the provider. */
  readonly happenedAt: number;
  /** The content of the event. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly txn: string | null;
}

const TYPE = 'secevent+jwt';
const MAX_AGE_SECONDS = 7 * 86_400;
const MAX_AHEAD_SECONDS = 300;

/** A used `jti` is remembered for longer than its token could be accepted again. */
export const SET_REMEMBERED_MS = (MAX_AGE_SECONDS + 86_400) * 1000;

/** PostgreSQL stores no null character in a text. */
const NAME = v.pipe(v.string(), v.nonEmpty(), v.maxLength(512), v.excludes('\0'));
const TIME = v.pipe(v.number(), v.minValue(0));
/** A number in the examples of CAEP 1.0. */
const TRANSACTION = v.pipe(v.union([v.string(), v.number()]), v.transform(String), NAME);

/**
 * SSF 1.0, 4.1: one event and its subject; never `sub` or `exp`, which tokens of access have. An unusable
 * `toe` or `txn`, which decide nothing, is left out: the event would be lost for good.
 */
const CLAIMS = v.object({
  jti: NAME,
  iat: TIME,
  toe: v.fallback(v.optional(TIME), undefined),
  sub: v.optional(v.undefined()),
  exp: v.optional(v.undefined()),
  sub_id: v.optional(v.unknown()),
  txn: v.fallback(v.optional(TRANSACTION), undefined),
  events: v.pipe(
    v.record(v.string(), v.looseObject({ event_timestamp: v.optional(TIME) })),
    v.check((events) => Object.keys(events).length === 1),
  ),
});

/** Verifies the events of one transmitter. */
export class SecurityEventTokens {
  private readonly pushTokens: BearerTokens | null;

  constructor(
    readonly settings: SharedSignalsSettings,
    private readonly metadata: TransmitterMetadata,
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

  /**
   * @param audiences of which the event has to name one
   * @throws SetError; UpstreamError when the keys cannot be read, so that it has to be sent again
   */
  async verify(token: string, audiences: readonly string[]): Promise<ReceivedSet> {
    this.refuseForeign(token, audiences);
    const { jwksUri } = await this.metadata.current();
    const options = {
      issuer: this.settings.transmitter,
      audience: [...audiences],
      typ: TYPE,
      algorithms: [...SIGNATURE_ALGORITHMS],
      currentDate: new Date(this.clock.now()),
    };
    const { payload } = await this.keys.verify(jwksUri, token, options).catch((error: unknown) => {
      throw failureOf(error);
    });
    return this.read(payload);
  }

  private read(payload: JWTPayload): ReceivedSet {
    const { success, output } = v.safeParse(CLAIMS, payload);
    if (!success) {
      throw new SetError('invalid_request', 'The claims are not those of a security event.');
    }
    const { jti, iat, toe, events, sub_id: subject, txn = null } = output;
    const now = this.clock.now() / 1000;
    if (iat > now + MAX_AHEAD_SECONDS || iat < now - MAX_AGE_SECONDS) {
      throw new SetError('invalid_request', 'The time of issue (iat) is not acceptable.');
    }
    const [[event, content] = ['', {}]] = Object.entries(events);
    const { event_timestamp: at = iat } = content;
    // A time in the future would outlast every later event.
    const [atMs = 0, happenedAt = 0] = [at, toe ?? at].map((time) => Math.min(time, now) * 1000);
    return { id: jti, event, subject, content, at: atMs, happenedAt, txn };
  }

  /** Refuses by its text alone, so that strangers cause no request to the transmitter. */
  private refuseForeign(token: string, audiences: readonly string[]): void {
    const { header, claims } = decode(token);
    const { transmitter } = this.settings;
    if (claims.iss !== transmitter) {
      throw new SetError('invalid_issuer', 'The issuer is not the transmitter of this stream.');
    }
    if (![claims.aud].flat().some((name) => audiences.includes(name ?? ''))) {
      throw new SetError('invalid_audience', 'The event is for another audience.');
    }
    const isTyped = /^(application\/)?secevent\+jwt$/i.test(header.typ ?? '');
    if (!isTyped || header.alg === 'none' || isAmbiguousJwt(token)) {
      throw new SetError('invalid_request', 'This is not a signed security event token.');
    }
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
