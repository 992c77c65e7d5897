import type { Socket } from 'node:net';
import type { Server, TLSSocket } from 'node:tls';

export const HANDSHAKE_TIMEOUT_MS = 10_000;

/** A handshake takes a few round trips: far more are under way only while clients stay silent. */
const MAX_PENDING = 1000;

/** Closes the oldest pending connection for a new one: silent ones would keep clients out. */
export function boundHandshakes(server: Server, maxPending = MAX_PENDING): void {
  const pending = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    socket.once('close', () => pending.get(peer) === socket && pending.delete(peer));
    pending.set(peer, socket);
    const [oldest] = pending.values();
    if (pending.size > maxPending) {
      oldest?.destroy();
    }
  });
  server.on('tlsClientError', (_error, socket) => socket.destroy());
  server.on('secureConnection', (socket: TLSSocket) => pending.delete(peerOf(socket)));
}

/** The plain and the encrypted socket of a connection have the same one. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
