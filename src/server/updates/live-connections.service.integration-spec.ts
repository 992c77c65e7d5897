import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from 'socket.io';
import { io, type Socket as Client } from 'socket.io-client';
import { MovedClock } from '../../../test/fixtures/moved-clock.js';
import type { Access, AuthService } from '../auth/auth.service.js';
import { IdentityEvents } from '../auth/identity.events.js';
import { momentOf } from '../../common/runtime/moment.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { LiveConnectionsService } from './live-connections.service.js';
import type { UpdatesServer, UpdatesSocket } from './updates.events.js';

const { auth: rules, updates: limits } = resolveSettings({}).settings;
const ACCESS = { accountId: 'account', sessionId: 'session', expiresAt: Infinity } as Access;

describe(LiveConnectionsService.name, () => {
  const clock = new MovedClock();
  const events: [name: string, body: unknown][] = [];
  let http: HttpServer;
  let sockets: UpdatesServer;
  let connections: LiveConnectionsService;
  let client: Client;
  let near: UpdatesSocket;

  beforeEach(async () => {
    events.length = 0;
    http = createServer().listen(0, '127.0.0.1');
    await once(http, 'listening');
    sockets = new Server(http, { serveClient: false });
    const runtime = new Runtime(clock);
    connections = new LiveConnectionsService(
      {} as AuthService,
      runtime,
      new IdentityEvents(),
      rules,
      limits,
    );
    connections.bind(sockets);
    const joined = new Promise<void>((done) => {
      sockets.on('connection', (socket) => {
        near = socket;
        connections.join(socket, { ...ACCESS, readAt: momentOf(clock) });
        done();
      });
    });
    const { port } = http.address() as AddressInfo;
    client = io(`http://127.0.0.1:${port}`, { transports: ['websocket'], reconnection: false });
    client.onAny((name: string, body: unknown) => events.push([name, body]));
    await joined;
  });
  afterEach(async () => {
    client.close();
    await sockets.close();
  });

  it('sends updates to a connection whose last check is within the bound', async () => {
    const update = new Promise((done) => client.once('update', done));
    clock.aheadMs += rules.revocationBoundMs - 1000;
    connections.publish('account', 1, { t: 'identities-changed' });
    await update;
    expect(near.data.sentSeq).toBe(1);
  });

  it('closes a connection in place of an update when its last check is too old', async () => {
    const ended = new Promise((done) => client.once('disconnect', done));
    clock.aheadMs += rules.revocationBoundMs + 1;
    connections.publish('account', 1, { t: 'identities-changed' });
    connections.publish('account', 2, { t: 'identities-changed' });
    await ended;
    expect(events).toEqual([['closing', expect.objectContaining({ code: 'unavailable' })]]);
    expect(near.data.sentSeq).toBe(0);
    expect(connections.countOf('account')).toBe(0);
  });

  it('closes a connection in place of an update when its session has expired', async () => {
    const ended = new Promise((done) => client.once('disconnect', done));
    near.data.access = { ...near.data.access, expiresAt: clock.now() };
    connections.publish('account', 1, { t: 'identities-changed' });
    await ended;
    expect(events).toEqual([['closing', expect.objectContaining({ code: 'token-expired' })]]);
  });

  it('closes the connections of expired sessions without an update', async () => {
    const ended = new Promise((done) => client.once('disconnect', done));
    near.data.access = { ...near.data.access, expiresAt: clock.now() };
    connections.closeExpired();
    await ended;
    expect(events).toEqual([['closing', expect.objectContaining({ code: 'token-expired' })]]);
  });

  it('closes it after the machine slept or its wall clock was set back', async () => {
    const ended = new Promise((done) => client.once('disconnect', done));
    const readAt = { wallMs: clock.now() + 60_000, monotonicMs: clock.elapsed() };
    near.data.access = { ...near.data.access, readAt };
    connections.publish('account', 1, { t: 'identities-changed' });
    await ended;
    expect(events.map(([name]) => name)).toEqual(['closing']);
  });
});
