import type { Server, Socket } from 'node:net';
import { addressGroup } from '../../common/addresses.js';

/**
 * Bounds the connections: a client that keeps many would use up the descriptors of the process. For a new one the oldest
 * of the address with most is closed, so that a client with many does not close those of others.
 */
export function boundConnections(server: Server, most: number): void {
  const open = new Map<string, Set<Socket>>();
  let count = 0;
  const remove = (address: string, socket: Socket): void => {
    const own = open.get(address);
    count -= own?.delete(socket) === true ? 1 : 0;
    if (own?.size === 0) {
      open.delete(address);
    }
  };
  server.on('connection', (socket: Socket) => {
    const address = addressGroup(socket.remoteAddress ?? '');
    open.set(address, (open.get(address) ?? new Set()).add(socket));
    count += 1;
    socket.once('close', () => remove(address, socket));
    if (count > most) {
      const [busiest, [oldest]] = [...open].reduce((one, other) =>
        other[1].size > one[1].size ? other : one,
      );
      remove(busiest, oldest!);
      oldest!.destroy();
    }
  });
}
