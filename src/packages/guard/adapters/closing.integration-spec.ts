import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { WebSocket, WebSocketServer, type ServerOptions } from 'ws';
import { GuardFixture } from '../../../../test/fixtures/guard-fixture.js';
import { closeServer, listen } from '../../../../test/helpers/local-server.js';
import { openWebSocket, type RawWebSocket } from '../../../../test/helpers/raw-websocket.js';
import { waitFor } from '../../../../test/helpers/wait.js';
import type { Guard } from '../guard.js';
import { closeSocket } from './closing.js';

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
