import type { Socket as Connection } from 'engine.io';
import type { Server, Socket } from 'socket.io';

/** Clients reconnect after this WebSocket close code (IANA registry of RFC 6455, 7.4.1). */
const SERVICE_RESTART = 1012;
/** Time for a client to receive the last bytes and to answer the close, in ms. */
export const CLOSING_MS = 2000;

/** Members of an Engine.IO connection that its types do not declare. */
interface Internals {
  readonly writeBuffer: readonly { readonly data?: unknown }[];
  readonly transport: {
    readonly name: string;
    readonly socket?: {
      readonly bufferedAmount: number;
      close(code: number): void;
      terminate(): void;
    };
  };
}

const internalsOf = (connection: unknown): Internals => connection as Internals;

export function terminate(connection: Connection): void {
  const { socket } = internalsOf(connection).transport;
  if (socket === undefined) {
    connection.close(true);
  } else {
    socket.terminate();
  }
}

/** Bytes that wait for the client to read, here and in the socket. */
export function unsentBytes(connection: Connection): number {
  const { transport, writeBuffer } = internalsOf(connection);
  let bytes = transport.socket?.bufferedAmount ?? 0;
  for (const { data } of writeBuffer) {
    bytes += typeof data === 'string' ? data.length : 0;
  }
  return bytes;
}

/**
 * Ends a connection once everything queued is sent. Client libraries reconnect by themselves after
 * this close code, and not after an ordinary disconnect.
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

/** Destroys connections whose clients have not answered the close. */
export function cutOff(engine: Server['engine']): void {
  const { clients } = engine as unknown as { readonly clients: Record<string, unknown> };
  for (const client of Object.values(clients)) {
    internalsOf(client).transport.socket?.terminate();
  }
}
