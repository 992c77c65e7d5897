import { once } from 'node:events';
import { createServer, ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { WebSocket, WebSocketServer, type ServerOptions } from 'ws';
import { GuardFixture } from '../../../../test/fixtures/guard-fixture.js';
import { closeServer, listen } from '../../../../test/helpers/local-server.js';
import { openWebSocket, type RawWebSocket } from '../../../../test/helpers/raw-websocket.js';
import { waitFor } from '../../../../test/helpers/wait.js';
import type { Guard } from '../guard.js';
import { closeSocket, cut } from './closing.js';

const MUCH = Buffer.alloc(64 * 1024 * 1024);

let fixture: GuardFixture;
let guard: Guard;
let server: Server;
let port: number;
let served: WebSocket[];
let heard: string[];
beforeEach(async () => {
  fixture = await GuardFixture.start();
  guard = await fixture.readyGuard();
  [served, heard] = [[], []];
  server = createServer();
  guard.upgrade(server);
  port = await listen(server);
});
afterEach(async () => {
  served.forEach((socket) => socket.terminate());
  await closeServer(server);
  await fixture.close();
});

function serve(options: ServerOptions = {}): void {
  new WebSocketServer({ server, ...options }).on('connection', (socket) => {
    served.push(socket);
    socket.on('message', (data) => heard.push(String(data))).on('error', () => undefined);
  });
}

async function open(): Promise<RawWebSocket> {
  const token = await fixture.issuer.token({ sid: 'leaver' });
  return openWebSocket({ port }, { authorization: `Bearer ${token}` });
}

const end = async (): Promise<void> => {
  await fixture.issuer.endSession('leaver');
  await waitFor('the end', () => guard.heldCount === 0);
};

describe(closeSocket.name, () => {
  it('lets nothing more reach the application from a client that does not read', async () => {
    serve();
    const client = await open();
    client.send('before');
    await waitFor('the message', () => heard.length === 1);
    client.stopReading();
    served[0]?.send(MUCH);
    await end();
    for (let count = 0; count < 50; count += 1) {
      client.send('after');
      await new Promise((done) => setTimeout(done, 2));
    }
    await fixture.time.advance(1000);
    await waitFor('the disconnection', () => served[0]?.readyState === WebSocket.CLOSED);
    expect(heard).toEqual(['before']);
    client.destroy();
  });

  it('drops what waits for an application that does not read', async () => {
    serve();
    const client = await open();
    await waitFor('the connection', () => served.length === 1);
    served[0]?.pause();
    client.send(...Array<string>(100).fill('unread'));
    client.stopReading();
    served[0]?.send(MUCH);
    await end();
    client.send('after');
    served[0]?.resume();
    await fixture.time.advance(1000);
    await waitFor('the disconnection', () => served[0]?.readyState === WebSocket.CLOSED);
    expect(heard).toEqual([]);
    client.destroy();
  });

  it.each([{}, { allowSynchronousEvents: false }, { perMessageDeflate: { threshold: 0 } }])(
    'drops messages that ws has read, with %j',
    async (options) => {
      serve(options);
      const token = await fixture.issuer.token({ sid: 'leaver' });
      const client = new WebSocket(`ws://127.0.0.1:${port}`, [`bearer.${token}`, 'relay'], options);
      await once(client, 'open');
      expect(client.protocol).toBe('relay');
      served[0]?.once('message', () => void guard.close());
      for (let count = 0; count < 100; count += 1) {
        client.send(`${count}`);
      }
      const [code] = (await once(client, 'close')) as [number];
      await waitFor('the disconnection', () => served[0]?.readyState === WebSocket.CLOSED);
      expect([code, heard]).toEqual([4401, ['0']]);
    },
  );
});

describe(cut.name, () => {
  const HANDSHAKE = '/socket.io/?transport=polling';
  const clients: Socket[] = [];
  afterEach(() => clients.splice(0).forEach((client) => client.destroy()));

  const answer = (incoming: IncomingMessage, response: ServerResponse): void => {
    if (incoming.url === HANDSHAKE) {
      response.end('0{"sid":"a","pingInterval":1,"pingTimeout":1}');
      return;
    }
    response.write('open');
    incoming.on('data', (chunk) => heard.push(String(chunk))).on('error', () => undefined);
  };

  /** Sends a request to `/open`, and one with the token of the leaver behind it, whose body goes on. */
  async function sendBehindOpen(path: string): Promise<Socket> {
    const middleware = guard.express();
    server.on('request', (incoming, response) => {
      const next = (): void => answer(incoming, response);
      return incoming.url === '/body' ? middleware(incoming, response, next) : next();
    });
    const credentials = `authorization: Bearer ${await fixture.issuer.token({ sid: 'leaver' })}`;
    const request = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
    const client = connect(port, '127.0.0.1').on('error', () => undefined);
    clients.push(client);
    client.write(request(`GET ${HANDSHAKE} HTTP/1.1`, 'host: x', credentials));
    await once(client, 'data');
    client.write(request('GET /open HTTP/1.1', 'host: x'));
    const body = ['host: x', credentials, 'transfer-encoding: chunked'];
    client.write(`${request(`POST ${path} HTTP/1.1`, ...body)}6\r\nbefore\r\n`);
    await waitFor('the body', () => heard.length > 0);
    return client;
  }

  it.each(['/body', `${HANDSHAKE}&sid=a`])(
    'lets nothing more of %s reach the application behind an open response',
    async (path) => {
      const client = await sendBehindOpen(path);
      await end();
      client.write('5\r\nafter\r\n');
      await waitFor('the disconnection', () => client.closed);
      expect(heard).toEqual(['before']);
    },
  );

  it('is not needed once the client of such a response has disconnected', async () => {
    const client = await sendBehindOpen('/body');
    const count = guard.heldCount;
    client.destroy();
    await waitFor('the release', () => guard.heldCount < count);
  });
});

describe('a WebSocket that is open before the guard, as those of express-ws are', () => {
  let client: WebSocket;
  let own: Server;
  beforeEach(async () => {
    own = createServer();
    const middleware = guard.express();
    new WebSocketServer({ server: own }).on('connection', (socket, incoming) => {
      middleware(incoming, new ServerResponse(incoming), () => {
        socket.on('message', (data) => heard.push(String(data)));
        socket.send('welcome');
      });
    });
    const headers = { authorization: `Bearer ${await fixture.issuer.token({ sid: 'leaver' })}` };
    client = new WebSocket(`ws://127.0.0.1:${await listen(own)}`, { headers });
    await once(client, 'message');
  });
  afterEach(() => closeServer(own));

  it('is closed with 4401 when its session ends', async () => {
    const closed = once(client, 'close');
    await end();
    expect((await closed).map(String)).toEqual(['4401', 'session-revoked']);
  });

  it('is released when its client disconnects', async () => {
    expect(guard.heldCount).toBe(1);
    client.terminate();
    await waitFor('the release', () => guard.heldCount === 0);
  });
});
