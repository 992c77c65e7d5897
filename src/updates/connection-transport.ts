import type { Server, Socket } from 'socket.io';

/** RFC 6455, 7.4.1 and the registry it founds: the service restarts, come back. */
const SERVICE_RESTART = 1012;

/** What Engine.IO has of a connection and does not declare. */
interface Internals {
  readonly writeBuffer: readonly unknown[];
  readonly transport: {
    readonly name: string;
    readonly socket?: { close(code: number): void; terminate(): void };
  };
}

const internalsOf = (connection: unknown): Internals => connection as Internals;

/**
 * Ends a connection once everything that was sent has left, with the close code for a restart:
 * client libraries come back by themselves then, and do not after an ordinary disconnect.
 */
export function closeForRestart(socket: Pick<Socket, 'conn' | 'disconnect'>): void {
  const { conn } = socket;
  const { transport, writeBuffer } = internalsOf(conn);
  if (transport.name !== 'websocket') {
    socket.disconnect(true);
  } else if (writeBuffer.length === 0) {
    transport.socket?.close(SERVICE_RESTART);
  } else {
    conn.once('drain', () => transport.socket?.close(SERVICE_RESTART));
  }
}

/** Cuts connections off whose clients do not answer that they have heard. */
export function cutOff(engine: Server['engine']): void {
  const { clients } = engine as unknown as { readonly clients: Record<string, unknown> };
  for (const client of Object.values(clients)) {
    internalsOf(client).transport.socket?.terminate();
  }
}
