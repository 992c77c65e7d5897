import { jwtVerify, type JWTPayload } from 'jose';
import { recordOf } from '../../../core/protocol/is-record.js';
import type { KeySet } from '../tokens/key-set.js';

const SESSION_REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
const STREAM_UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated';
/** Events that the guard asks for. */
export const EVENTS_REQUESTED = [SESSION_REVOKED];

/** The content of a signal, as far as the guard acts on it. */
export type SessionEvent =
  | { readonly type: 'session-revoked'; readonly sid: string }
  /** The transmitter stopped the stream: events may be lost. */
  | { readonly type: 'stream-stopped' }
  | { readonly type: 'other' };

/** Facts that a signal is compared with. */
export interface EventExpectation {
  readonly issuer: string;
  /** The audience that the transmitter gave the stream. */
  readonly audience: string | readonly string[];
  /** The id under which the signal was delivered. */
  readonly jti: string;
  readonly now: number;
}

/**
 * Verifies a security event token (RFC 8417).
 *
 * @throws Error for a token that is not of the transmitter and this stream, and for a revocation
 *   that names no session
 */
export async function readEventToken(
  token: string,
  keys: KeySet,
  { issuer, audience, jti, now }: EventExpectation,
): Promise<SessionEvent> {
  const { payload } = await jwtVerify(token, keys.find, {
    algorithms: ['RS256'],
    typ: 'secevent+jwt',
    issuer,
    audience: [audience].flat(),
    requiredClaims: ['jti', 'iat', 'events'],
    currentDate: new Date(now),
  });
  if (payload.jti !== jti) {
    throw new Error('The signal has another id than its delivery.');
  }
  return eventIn(payload);
}

function eventIn(payload: JWTPayload): SessionEvent {
  const events = recordOf(payload['events']);
  if (STREAM_UPDATED in events) {
    const { status } = recordOf(events[STREAM_UPDATED]);
    return { type: status === 'enabled' ? 'other' : 'stream-stopped' };
  }
  if (!(SESSION_REVOKED in events)) {
    return { type: 'other' };
  }
  const { format, session } = recordOf(payload['sub_id']);
  const { format: sessionFormat, id } = recordOf(session);
  const isNamed = format === 'complex' && sessionFormat === 'opaque';
  if (!isNamed || typeof id !== 'string' || id === '') {
    throw new Error('The revocation names no session.');
  }
  return { type: 'session-revoked', sid: id };
}
