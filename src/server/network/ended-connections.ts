import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';

/** Time for a client to read the last answer and to close its side too. */
const CLOSING_MS = 2000;

/** Node's HTTP servers keep half-open connections while a client keeps its own side open. */
export function releaseEndedConnections(server: Server): void {
  // The plain connection below TLS ends after the encrypted one.
  const opened = server instanceof TlsServer ? 'secureConnection' : 'connection';
  server.on(opened, (socket: Socket) => socket.once('finish', () => destroySoon(socket)));
}

/**
 * Drops what still arrives, for a while: a client that is sending its body would otherwise meet a
 * reset connection, and not read the answer (RFC 9112, 9.6).
 */
export function readOnWhileClosing(socket: Socket): void {
  socket.destroySoon = () => socket.end();
}

/** Releases the connection also when the client does not read the answer. */
export function endConnection(socket: Duplex, answer: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  destroySoon(socket);
  socket.on('error', () => undefined).end(answer);
}

function destroySoon(socket: Duplex): void {
  // A connection that is destroyed at once may be reset before the client has read the answer.
  const timer = setTimeout(() => socket.destroy(), CLOSING_MS);
  socket.once('close', () => clearTimeout(timer));
}
