import { createServer, Socket } from 'node:net';
import { boundConnections } from './open-connections.js';

const MOST = 4;
const [OPERATOR, STRANGER] = ['192.0.2.1', '198.51.100.7'] as const;

describe(boundConnections, () => {
  /** Connects as many times, and returns the sockets of the server. */
  const connecting = () => {
    const server = createServer();
    boundConnections(server, MOST);
    return (address: string, count: number): Socket[] =>
      Array.from({ length: count }, () => {
        const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: address });
        server.emit('connection', socket);
        return socket;
      });
  };
  const areOpen = (sockets: readonly Socket[]) => sockets.map(({ destroyed }) => !destroyed);

  it('closes the oldest connection of the only address', () => {
    expect(areOpen(connecting()(OPERATOR, 5))).toEqual([false, true, true, true, true]);
  });

  it('closes one of the address that has most', () => {
    const connect = connecting();
    const kept = connect(OPERATOR, 1);
    const held = connect(STRANGER, 5);
    expect(areOpen(kept)).toEqual([true]);
    expect(areOpen(held)).toEqual([false, false, true, true, true]);
  });

  it('counts the addresses of one network together', () => {
    const connect = connecting();
    const kept = connect(OPERATOR, 1);
    ['1', '2', '3', '4', '5'].forEach((host) => connect(`2001:db8::${host}`, 1));
    expect(areOpen(kept)).toEqual([true]);
  });

  it('does not count connections that have ended', async () => {
    const connect = connecting();
    connect(STRANGER, 3).forEach((socket) => socket.destroy());
    await new Promise(setImmediate);
    expect(areOpen(connect(OPERATOR, 4))).toEqual([true, true, true, true]);
  });
});
