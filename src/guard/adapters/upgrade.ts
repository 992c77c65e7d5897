import { STATUS_CODES, type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Timers } from '../../common/runtime/timers.js';
import { AccessRefused } from '../access-refused.js';
import type { AccessGate } from '../access-gate.js';
import { setAccess, upgradeTokenOf } from './credentials.js';
import { admit, answerRefusal } from './express.js';

/** The part of an HTTP server that the guard uses. */
export interface UpgradingServer {
  emit(event: string, ...values: unknown[]): boolean;
}

/** The close code of a socket whose access ended; 4000 to 4999 are the application's. */
const CLOSE_CODE = 4401;
/** A client that does not read what it gets is disconnected after this. */
const GRACE_MS = 1000;
/** Transports of Socket.IO, which each of its requests names. */
const TRANSPORTS = ['polling', 'websocket', 'webtransport'];

/**
 * Verifies upgrades before any listener of the server gets them, also one that is added later. Socket.IO's
 * requests of long polling need no upgrade, and are verified too.
 */
export function guardUpgrades(guard: AccessGate, server: UpgradingServer, timers: Timers): void {
  const emit = server.emit.bind(server);
  server.emit = (event, ...values) => {
    const [request, target] = values as [IncomingMessage, Duplex | ServerResponse];
    if (event === 'upgrade') {
      void admitUpgrade(guard, request, target as Duplex, timers).then((isAdmitted) => {
        if (isAdmitted) {
          emit(event, ...values);
        }
      });
      return true;
    }
    if (event === 'request' && isPolling(request)) {
      const response = target as ServerResponse;
      void admitPolling(guard, request, response).then((isAdmitted) => {
        if (isAdmitted) {
          emit(event, ...values);
        }
      });
      return true;
    }
    return emit(event, ...values);
  };
}

async function admitUpgrade(
  guard: AccessGate,
  request: IncomingMessage,
  socket: Duplex,
  timers: Timers,
): Promise<boolean> {
  const ignore = (): void => undefined;
  // No listener of the server has the socket yet, and an error without one ends the process.
  socket.on('error', ignore);
  try {
    const access = await guard.verify(upgradeTokenOf(guard, request));
    if (socket.destroyed) {
      return false;
    }
    setAccess(request, access);
    const release = guard.hold(access, (reason) => closeSocket(socket, request, reason, timers));
    socket.once('close', release);
    return true;
  } catch (error) {
    refuseUpgrade(error instanceof AccessRefused ? error : guard.refusal('unavailable'), socket);
    return false;
  } finally {
    socket.off('error', ignore);
  }
}

function refuseUpgrade({ status, headers, body }: AccessRefused, socket: Duplex): void {
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  socket.on('error', () => socket.destroy());
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
  socket.once('finish', () => socket.destroy());
}

/** Sends a close frame, and reads nothing more: a client could otherwise go on sending. */
function closeSocket(
  socket: Duplex,
  { headers }: IncomingMessage,
  reason: string,
  timers: Timers,
): void {
  if (headers.upgrade?.toLowerCase() !== 'websocket' || !socket.writable) {
    socket.destroy();
    return;
  }
  const timer = timers.after(GRACE_MS, () => socket.destroy());
  socket.once('close', () => timer.cancel());
  socket.end(closeFrame(reason), () => socket.destroy());
}

/** A close frame of a server (RFC 6455, 5.5.1). Its payload has at most 125 bytes. */
function closeFrame(reason: string): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(CLOSE_CODE);
  payload.write(reason, 2);
  return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
}

function isPolling({ url = '' }: IncomingMessage): boolean {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start === -1 ? '' : url.slice(start + 1));
  return (
    url.startsWith('/socket.io/') ||
    query.getAll('transport').some((transport) => TRANSPORTS.includes(transport))
  );
}

/** A preflight of a browser has no token, and Socket.IO answers it. */
async function admitPolling(
  guard: AccessGate,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (request.method === 'OPTIONS') {
    return true;
  }
  try {
    await admit(guard, request, response);
    return true;
  } catch (error) {
    answerRefusal(error instanceof AccessRefused ? error : guard.refusal('unavailable'), response);
    return false;
  }
}
