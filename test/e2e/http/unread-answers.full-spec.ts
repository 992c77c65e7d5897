import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { call, logIn } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

const CONNECTIONS = 80;
/** About 9 MiB, of which the system takes a part. */
const REQUESTS_OF_ONE = 40;

const server = await startServer();
afterAll(() => server.stop());

describe('a server whose clients read no answers', () => {
  it('ends the oldest connection before the answers fill the memory', async () => {
    const { token } = await logIn(server);
    const settings = `1.${randomBytes(180_000).toString('base64url')}`;
    const path = '/v1/account/settings';
    const body = { settings, expectedVersion: 0 };
    expect((await call(server, 'POST', path, { token, body })).body['success']).toBe(true);
    const request = `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n\r\n`;
    const sockets: Socket[] = [];
    const closed = new Set<Socket>();
    for (let index = 0; index < CONNECTIONS; index += 1) {
      const socket = connect(server.port, '127.0.0.1').pause();
      socket.on('error', () => undefined).on('close', () => closed.add(socket));
      await once(socket, 'connect');
      socket.write(request.repeat(REQUESTS_OF_ONE));
      sockets.push(socket);
    }
    const [oldest, newest] = [sockets[0]!, sockets.at(-1)!];
    await waitFor('the oldest is disconnected', () => {
      // A client that reads nothing learns it when it sends something.
      [oldest, newest].forEach((socket) => socket.write('\r\n'));
      return closed.has(oldest);
    });
    expect(closed.has(newest)).toBe(false);
    expect((await call(server, 'GET', path, { token })).body).toMatchObject({ settings });
    sockets.forEach((socket) => socket.destroy());
  });
});
