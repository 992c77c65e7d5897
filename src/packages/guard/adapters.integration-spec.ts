import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { Server as SocketServer, type Socket } from 'socket.io';
import { io, type Socket as ClientSocket } from 'socket.io-client';
import { WebSocket, WebSocketServer } from 'ws';
import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
import { waitFor } from '../../../test/helpers/wait.js';
import { accessOf } from './adapters/credentials.js';
import type { Guard } from './guard.js';

let fixture: GuardFixture;
let guard: Guard;
beforeEach(async () => {
  fixture = await GuardFixture.start({ resource: 'https://backend.test/relay' });
  guard = await fixture.readyGuard();
});
afterEach(() => fixture.close());

/** A server on a free port, which ends with the test. */
const servers: Server[] = [];
async function listen(server: Server): Promise<string> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

const authorized = (token: string): { headers: Record<string, string> } => {
  return { headers: { authorization: `Bearer ${token}` } };
};

describe('upgrade()', () => {
  interface Relay {
    readonly url: string;
    readonly accounts: unknown[];
  }

  async function startRelay(): Promise<Relay> {
    const server = createServer();
    guard.upgrade(server);
    const sockets = new WebSocketServer({ server });
    const accounts: unknown[] = [];
    sockets.on('connection', (socket, incoming) => {
      accounts.push(accessOf(incoming)?.account);
      socket.on('message', (data) => socket.send(`echo ${String(data)}`));
    });
    return { url: (await listen(server)).replace('http', 'ws'), accounts };
  }

  it('admits sockets by header or subprotocol, which is not selected', async () => {
    const { url, accounts } = await startRelay();
    const token = await fixture.issuer.token({ account: 'ada' });
    const byHeader = new WebSocket(url, authorized(token));
    await once(byHeader, 'open');
    const byProtocol = new WebSocket(url, [`bearer.${token}`, 'relay.v1']);
    await once(byProtocol, 'open');
    expect(byProtocol.protocol).toBe('relay.v1');
    expect(accounts).toEqual(['ada', 'ada']);
    byHeader.send('hello');
    const [answer] = (await once(byHeader, 'message')) as [Buffer];
    expect(answer.toString()).toBe('echo hello');
    byHeader.terminate();
    byProtocol.terminate();
  });

  it.each([
    ['no token', 401, async () => ({})],
    ['an invalid token', 401, async () => authorized('x')],
    [
      'two tokens',
      400,
      async () => ({
        headers: {
          ...authorized(await fixture.issuer.token()).headers,
          'sec-websocket-protocol': `bearer.${await fixture.issuer.token()}`,
        },
      }),
    ],
  ])('refuses %s before any listener', async (_what, status, options) => {
    const { url, accounts } = await startRelay();
    const socket = new WebSocket(url, await options());
    const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['www-authenticate']).toContain('Bearer ');
    socket.on('error', () => undefined).terminate();
    expect(accounts).toEqual([]);
  });

  it('closes the sockets of the leaver with 4401, and no other of 300', async () => {
    const { url } = await startRelay();
    const tokens = await Promise.all(
      Array.from({ length: 50 }, (_one, index) => fixture.issuer.token({ sid: `s${index}` })),
    );
    const sockets = await Promise.all(
      Array.from({ length: 300 }, async (_one, index) => {
        const socket = new WebSocket(url, authorized(tokens[index % 50] ?? ''));
        await once(socket, 'open');
        return socket;
      }),
    );
    const closed: unknown[] = [];
    sockets.forEach((socket, index) =>
      socket.on('close', (code, reason) => closed.push([index % 50, code, String(reason)])),
    );
    await fixture.issuer.endSession('s7');
    await waitFor('the sockets close', () => closed.length >= 6);
    expect(closed).toEqual(Array.from({ length: 6 }, () => [7, 4401, 'session-revoked']));
    const open = sockets.filter(({ readyState }) => readyState === WebSocket.OPEN);
    expect(open).toHaveLength(294);
    sockets.forEach((socket) => socket.terminate());
  });

  it('survives clients that disconnect during the check', async () => {
    const { url, accounts } = await startRelay();
    const { port } = new URL(url);
    fixture.issuer.isAvailable = false;
    for (let count = 0; count < 20; count += 1) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      socket.write(
        'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nauthorization: Bearer x.y.z\r\n\r\n',
      );
      socket.resetAndDestroy();
    }
    fixture.issuer.isAvailable = true;
    const socket = new WebSocket(url, authorized(await fixture.issuer.token()));
    await once(socket, 'open');
    expect(accounts).toHaveLength(1);
    socket.terminate();
  });

  describe('with Socket.IO', () => {
    let sockets: SocketServer;
    let clients: ClientSocket[];

    async function startSockets(): Promise<string> {
      const server = createServer((_incoming, response) => response.end('app'));
      guard.upgrade(server);
      sockets = new SocketServer(server);
      sockets.on('connection', (socket: Socket) => {
        socket.emit('account', accessOf(socket.request)?.account);
      });
      return listen(server);
    }

    beforeEach(() => {
      clients = [];
    });
    afterEach(async () => {
      clients.forEach((client) => client.disconnect());
      await sockets.close();
    });

    const open = (url: string, token: string, transport: string): ClientSocket => {
      const client = io(url, {
        ...{ transports: [transport], reconnection: false, forceNew: true },
        extraHeaders: token === '' ? {} : { authorization: `Bearer ${token}` },
      });
      clients.push(client);
      return client;
    };

    it.each(['websocket', 'polling'])('admits and ends sockets over %s', async (transport) => {
      const url = await startSockets();
      const token = await fixture.issuer.token({ account: 'ada', sid: 'leaver' });
      const client = open(url, token, transport);
      const accounts: unknown[] = [];
      client.on('account', (account) => accounts.push(account));
      await waitFor('the account arrives', () => accounts.length > 0);
      expect(accounts).toEqual(['ada']);
      await fixture.issuer.endSession('leaver');
      await waitFor('the client is disconnected', () => client.disconnected);
      expect(await (await fetch(url)).text()).toBe('app');
    });

    it.each(['websocket', 'polling'])(
      'refuses sockets without a token over %s',
      async (transport) => {
        const client = open(await startSockets(), '', transport);
        const errors: unknown[] = [];
        client.on('connect_error', (error) => errors.push(error));
        await waitFor('the client is refused', () => errors.length > 0);
        expect(client.connected).toBe(false);
      },
    );

    it.each([
      '/socket.io/?EIO=4&transport=polling',
      '/socket.io/?EIO=4&tr%61nsport=polling',
      '/socket.io/?EIO=3&transport=polling',
      '/other/?EIO=4&transport=polling',
    ])('refuses %s without a token', async (path) => {
      const answer = await fetch(`${await startSockets()}${path}`);
      expect(answer.status).toBe(401);
    });
  });
});

describe(accessOf.name, () => {
  it('returns null, and never throws, for what no guard admitted', () => {
    const others: unknown[] = [{}, null, undefined, 'x'];
    expect(others.map((other) => accessOf(other as object))).toEqual([null, null, null, null]);
  });
});
