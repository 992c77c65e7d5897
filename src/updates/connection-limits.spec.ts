import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from 'socket.io';
import { openWebSocket } from '../../test/helpers/raw-websocket.js';
import { ClientAddress, RateLimits } from '../auth/rate-limits.js';
import type { AuthService } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity-events.js';
import { Clock } from '../common/clock.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { ConnectionLimits, UnauthenticatedConnections } from './connection-limits.js';
import { Metrics } from '../metrics/metrics.js';
import { ConnectionPolicy } from './handshake.js';
import { HandshakeQueue } from './handshake-queue.js';
import { LiveConnections } from './live-connections.js';
import { UpdatesEngine } from './updates.engine.js';
import type { UpdatesServer, UpdatesSocket } from './updates.events.js';

/** More than the systems at both ends keep for a client that does not read. */
const UNREAD_BYTES = 32 * 1024 * 1024;

let http: HttpServer;
let sockets: UpdatesServer;
let limits: ConnectionLimits;

beforeEach(async () => {
  const { settings } = resolveSettings({});
  // Storage is asked for the first message of an account only, which is not sent here.
  const connections = new LiveConnections({} as AuthService, new Clock(), new IdentityEvents());
  const addresses = new ClientAddress(settings.http);
  limits = new ConnectionLimits(
    connections,
    new UnauthenticatedConnections(addresses, settings.updates),
  );
  const rates = new RateLimits(new Map());
  const queue = new HandshakeQueue(settings.updates);
  const policy = new ConnectionPolicy(
    rates,
    queue,
    connections,
    addresses,
    settings.http,
    settings.updates,
  );
  http = createServer();
  const engine = new UpdatesEngine({}, policy, queue, limits, new Metrics());
  engine.attach(http, { path: '/v1/updates' });
  sockets = new Server().bind(engine);
  connections.bind(sockets);
  await once(http.listen(0, '127.0.0.1'), 'listening');
});

afterEach(async () => {
  await sockets.close();
  http.close();
});

async function join() {
  const connected = new Promise<UpdatesSocket>((done) => sockets.once('connection', done));
  const client = await openWebSocket({ port: (http.address() as AddressInfo).port });
  client.send('40');
  return { client, socket: await connected };
}

describe(ConnectionLimits.name, () => {
  it('closes a connection that leaves too much unread, and it alone', async () => {
    const [reading, unread] = [await join(), await join()];
    unread.client.stopReading();
    const update = { id: 'x'.repeat(UNREAD_BYTES), seq: 1, createdAt: 0 };
    unread.socket.emit('update', { ...update, body: { t: 'push-tokens-changed' } });
    limits.closeUnread();
    expect(unread.socket.connected).toBe(false);
    expect(reading.socket.connected).toBe(true);
    // Without waiting for the client, which would take until its heartbeat is overdue.
    const countConnections = (): Promise<number> =>
      new Promise((done) => http.getConnections((_error, count) => done(count)));
    while ((await countConnections()) > 1) {
      await sleep(50);
    }
    unread.client.destroy();
    reading.client.destroy();
  });
});
