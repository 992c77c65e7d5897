import type { Socket } from 'node:net';
import { Pool, type buildConnector } from 'undici';

/** A response with another one behind it (RFC 9110, 15.2), other than `101 Switching Protocols`. */
const INTERIM = /^HTTP\/1\.[01] (1(?!01)\d\d)[ \r]/;
const CONTINUE = '100';
const STATUS_LINE = 'HTTP/1.1 100 ';
/** A body may end with fewer characters of a status line. */
const LEAST_BEGUN = 'HTTP/1.'.length;
const HEAD_END = '\r\n\r\n';
const MAX_HEAD_BYTES = 16 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);

/**
 * Makes the connections of an agent to an origin. A server may send `100 Continue` without being asked
 * (RFC 9110, 15.2), which undici takes for an error, although the request was delivered.
 */
export function poolWithoutContinue(origin: string | URL, options: Pool.Options): Pool {
  const { connect } = options;
  return new Pool(origin, {
    ...options,
    ...(typeof connect === 'function' && { connect: withoutContinue(connect) }),
  });
}

function withoutContinue(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null) {
        skipContinue(socket);
      }
      callback(...result);
    });
}

function skipContinue(socket: Socket): void {
  const original = socket.read.bind(socket);
  const read = () => original() as Buffer | null;
  /** The beginning of an interim response. */
  let begun = NOTHING;
  socket.read = () => {
    for (let chunk = read(); chunk !== null; chunk = read()) {
      const bytes = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
      const { kept, incomplete } = withoutContinues(bytes);
      begun = incomplete;
      if (kept.length > 0) {
        return kept;
      }
    }
    return null;
  };
}

/**
 * Removes `100 Continue` from the interim responses at the beginning.
 * @returns with the beginning of an interim response whose end has not arrived
 */
function withoutContinues(bytes: Buffer) {
  const kept: Buffer[] = [];
  let rest = bytes;
  for (let status = statusOf(rest); status !== null; status = statusOf(rest)) {
    const end = rest.indexOf(HEAD_END);
    if (end === -1) {
      const isTooLong = rest.length > MAX_HEAD_BYTES;
      return isTooLong
        ? { kept: Buffer.concat([...kept, rest]), incomplete: NOTHING }
        : { kept: Buffer.concat(kept), incomplete: rest };
    }
    const next = end + HEAD_END.length;
    if (status !== CONTINUE) {
      kept.push(rest.subarray(0, next));
    }
    rest = rest.subarray(next);
  }
  return { kept: Buffer.concat([...kept, rest]), incomplete: NOTHING };
}

/** Returns the status of an interim response, also of the beginning of its first line; null for other bytes. */
function statusOf(bytes: Buffer): string | null {
  const text = bytes.toString('latin1', 0, STATUS_LINE.length);
  const line = text.length < LEAST_BEGUN ? text : text + STATUS_LINE.slice(text.length);
  return INTERIM.exec(line)?.[1] ?? null;
}
