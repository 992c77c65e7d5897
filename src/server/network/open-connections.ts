import type { Server, Socket } from 'node:net';

/** Closes the oldest connection for a new one: a client that keeps many would use up the descriptors of the process. */
export function boundConnections(server: Server, most: number): void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    socket.once('close', () => open.delete(socket));
    open.add(socket);
    const [oldest] = open;
    if (open.size > most) {
      oldest?.destroy();
    }
  });
}
