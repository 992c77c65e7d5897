import type { Socket } from 'node:net';
import { Pool, type buildConnector } from 'undici';

const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/;
const STATUS_LINE_LENGTH = 'HTTP/1.1 100 '.length;
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
      const rest = afterContinue(begun.length === 0 ? chunk : Buffer.concat([begun, chunk]));
      begun = isContinue(rest) && rest.length <= MAX_HEAD_BYTES ? rest : NOTHING;
      if (begun.length === 0 && rest.length > 0) {
        return rest;
      }
    }
    return null;
  };
}

/** Removes whole interim responses from the beginning. */
function afterContinue(bytes: Buffer): Buffer {
  let rest = bytes;
  while (isContinue(rest)) {
    const end = rest.indexOf(HEAD_END);
    if (end === -1) {
      return rest;
    }
    rest = rest.subarray(end + HEAD_END.length);
  }
  return rest;
}

function isContinue(bytes: Buffer): boolean {
  return CONTINUE.test(bytes.toString('latin1', 0, STATUS_LINE_LENGTH));
}
