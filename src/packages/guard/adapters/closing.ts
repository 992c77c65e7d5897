import { EventEmitter } from 'node:events';
import { STATUS_CODES, type IncomingHttpHeaders } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Timers } from '../../../common/runtime/timers.js';
import type { AccessRefused } from '../access-refused.js';
import type { GuardedRequest } from './credentials.js';

/** The close code of a socket whose access ended; 4000 to 4999 are the application's. */
const CLOSE_CODE = 4401;
/** A client that does not read what it gets is disconnected after this. */
const GRACE_MS = 1000;
/** Events with which a WebSocket of `ws` hands over what the client sent. */
const MESSAGES: readonly (string | symbol)[] = ['message', 'ping', 'pong'];

/** `CANCEL` of HTTP/2 (RFC 9113, 7): without it a response that was cut would seem complete. */
const CANCEL = 8;

/** The part of a response that the guard uses, of HTTP/1, HTTP/2 or Fastify's `inject()`. */
export interface GuardedResponse {
  readonly destroyed?: boolean;
  /** null while an earlier response of the connection is open, and for one that express-ws makes up. */
  readonly socket: Duplex | null;
  /** The stream of HTTP/2. */
  readonly stream?: { readonly destroyed: boolean; close(code: number): void };
  destroy(): unknown;
  once(event: 'close' | 'finish', listener: () => void): unknown;
}

/** Returns the connection of one request of HTTP/1; null for HTTP/2, and in Fastify's `inject()`. */
export function connectionOf({ socket }: GuardedRequest, response: GuardedResponse): Duplex | null {
  if (response.stream !== undefined) {
    return null;
  }
  return response.socket ?? (socket && 'destroy' in socket ? (socket as Duplex) : null);
}

/** True if the client has disconnected. */
export function isClosed(request: GuardedRequest, response: GuardedResponse): boolean {
  const { destroyed, stream } = response;
  const connection = connectionOf(request, response);
  return destroyed === true || stream?.destroyed === true || connection?.destroyed === true;
}

/** Calls the listener once, when the response or its connection closes. */
export function onceClosed(
  request: GuardedRequest,
  response: GuardedResponse,
  listener: () => void,
): void {
  // A response without a socket does not report that the client disconnects. A client may have many of them.
  const connection = response.socket === null ? connectionOf(request, response) : null;
  connection?.setMaxListeners(0);
  let isCalled = false;
  const onClose = (): void => {
    connection?.off('close', onClose);
    if (!isCalled) {
      isCalled = true;
      listener();
    }
  };
  response.once('close', onClose);
  connection?.once('close', onClose);
}

/** Ends a response, whatever is still to be sent, and its request, whatever is still to be read. */
export function cut(request: GuardedRequest, response: GuardedResponse): void {
  if (response.stream === undefined) {
    response.destroy();
    // Without a socket it would be destroyed when it gets one: its request is read until then.
    connectionOf(request, response)?.destroy();
  } else {
    response.stream.close(CANCEL);
  }
}

/** True for a request that opens a WebSocket, unless the server treats it as an ordinary one. */
export function isWebSocket(request: { readonly headers: IncomingHttpHeaders }): boolean {
  // Node sets it; a request that a test makes up does not have it.
  const { upgrade = true } = request as { readonly upgrade?: boolean };
  return upgrade && request.headers.upgrade?.toLowerCase() === 'websocket';
}

/** Disconnects a refused WebSocket once its answer is sent: the server does not. */
export function disconnectAfterAnswer(response: GuardedResponse): void {
  const { socket } = response;
  response.once('finish', () => socket?.destroy());
}

export function refuseUpgrade({ status, headers, body }: AccessRefused, socket: Duplex): void {
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

/** Disconnects an upgraded socket. A WebSocket gets a close frame with the reason. */
export function closeSocket(
  socket: Duplex,
  request: { readonly headers: IncomingHttpHeaders },
  reason: string,
  timers: Timers,
): void {
  const timer = timers.after(GRACE_MS, () => socket.destroy());
  socket.once('close', () => timer.cancel());
  stopReading(socket);
  if (isWebSocket(request) && socket.writable) {
    socket.end(closeFrame(reason), () => socket.destroy());
  } else {
    socket.destroy();
  }
}

/**
 * The close frame may wait behind much that the client does not read. Nothing more reaches the
 * application meanwhile, and nothing as the socket closes, when `ws` reads what is left.
 */
function stopReading(socket: Duplex): void {
  socket.removeAllListeners('data').removeAllListeners('readable');
  while (socket.read() !== null) {
    // Drops bytes that have arrived.
  }
  socket.push = () => false;
  const webSocket = webSocketOf(socket);
  if (webSocket !== null) {
    // Drops messages that it has read, and emits one by one.
    const emit = webSocket.emit.bind(webSocket);
    webSocket.emit = (event, ...values: unknown[]) =>
      !MESSAGES.includes(event) && emit(event, ...values);
  }
}

/** Returns the WebSocket that `ws` stores in its socket; null if another library has the socket. */
function webSocketOf(socket: Duplex): EventEmitter | null {
  const symbols = Object.getOwnPropertySymbols(socket);
  const symbol = symbols.find(({ description }) => description === 'websocket');
  const stored = symbol && (socket as unknown as Record<symbol, unknown>)[symbol];
  return stored instanceof EventEmitter ? stored : null;
}

/** A close frame of a server (RFC 6455, 5.5.1). Its payload has at most 125 bytes. */
function closeFrame(reason: string): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(CLOSE_CODE);
  payload.write(reason, 2);
  return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
}
