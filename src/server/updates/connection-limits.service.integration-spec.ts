import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server } from 'socket.io';
import { openWebSocket } from '../../../test/helpers/raw-websocket.js';
import { ClientAddressService } from '../auth/client-address.service.js';
import { RateLimitService } from '../auth/rate-limit.service.js';
import type { AuthService } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { ConnectionLimitsService } from './connection-limits.service.js';
import { UnauthenticatedConnectionsService } from './unauthenticated-connections.service.js';
import { Timers } from '../../common/runtime/timers.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { HandshakeService } from './handshake.service.js';
import { HandshakeQueueService } from './handshake-queue.service.js';
import { LiveConnectionsService } from './live-connections.service.js';
import { UpdatesEngine } from './updates.engine.js';
import type { UpdatesServer, UpdatesSocket } from './updates.events.js';

/** The limit exceeds the buffers of the systems at both ends. */
const UNREAD_BYTES = 32 * 1024 * 1024;

let http: HttpServer;
let sockets: UpdatesServer;
let limits: ConnectionLimitsService;

beforeEach(async () => {
  const { settings } = resolveSettings({});
  // Storage is queried for the first message of an account only, which is not sent here.
  const auth = {} as AuthService;
  const runtime = new Runtime();
  const connections = new LiveConnectionsService(
    auth,
    runtime,
    new IdentityEvents(),
    settings.auth,
    settings.updates,
  );
  const addresses = new ClientAddressService(settings.http);
  limits = new ConnectionLimitsService(
    connections,
    new UnauthenticatedConnectionsService(addresses, settings.updates),
    runtime.clock,
  );
  const rates = new RateLimitService(new Map());
  const queue = new HandshakeQueueService(settings.updates, runtime);
  const parts = [auth, queue, limits, connections, rates, addresses] as const;
  http = createServer();
  const engine = new UpdatesEngine(
    new HandshakeService(...parts),
    limits,
    new MetricsService(new Timers()),
    settings.http,
    settings.updates,
  );
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

describe(ConnectionLimitsService.name, () => {
  it('closes only the connection that leaves too much unread', async () => {
    const [reading, unread] = [await join(), await join()];
    unread.client.stopReading();
    const update = { id: 'x'.repeat(UNREAD_BYTES), seq: 1, createdAt: 0 };
    unread.socket.emit('update', { ...update, body: { t: 'push-tokens-changed' } });
    limits.closeUnread();
    expect(unread.socket.connected).toBe(false);
    expect(reading.socket.connected).toBe(true);
    // Counts without waiting for the client, which would take until its heartbeat is overdue.
    const countConnections = (): Promise<number> =>
      new Promise((done) => http.getConnections((_error, count) => done(count)));
    while ((await countConnections()) > 1) {
      await sleep(50);
    }
    unread.client.destroy();
    reading.client.destroy();
  });
});
