import { setTimeout as sleep } from 'node:timers/promises';
import { call, logIn, makeDeviceKey } from '../../helpers/client.js';
import { connect, type LiveClient } from '../../helpers/client-live.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore, type Store } from '../../fixtures/programs/store-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { type Service, startRedis } from '../../fixtures/programs/services-fixture.js';
import { waitFor } from '../../helpers/wait.js';

const CACHE_MS = 2000;

let redis: Service;
let store: Store;
let a: Server;
let b: Server;
const open: LiveClient[] = [];

async function live(server: Server, token: string): Promise<LiveClient> {
  const client = await connect(server, { token });
  open.push(client);
  await client.next('hello');
  return client;
}

const statusAt = async (server: Server, token: string): Promise<number> =>
  (await call(server, 'GET', '/v1/push-tokens', { token })).status;

const save = (server: Server, token: string, name: string) =>
  call(server, 'POST', '/v1/push-tokens', { token, body: { token: name } });

const redisAt = async (server: Server): Promise<unknown> =>
  ((await call(server, 'GET', '/readyz')).body['dependencies'] as Record<string, unknown>)['redis'];

const bothSee = async (state: 'away' | 'ready'): Promise<boolean> =>
  (await redisAt(a)) === state && (await redisAt(b)) === state;

/** Waits until a client of one replica receives an update of the other. */
async function untilReceived(what: string, from: Server, to: Server): Promise<void> {
  const { token } = await logIn(from);
  const client = await live(to, token);
  await waitFor(what, async () => {
    await save(from, token, 'x');
    return client.waiting('update') > 0;
  });
  client.close();
}

async function untilConnected(): Promise<void> {
  await untilReceived('a hears b', b, a);
  await untilReceived('b hears a', a, b);
}

describe('two replicas (PostgreSQL only: the embedded database is for one)', () => {
  beforeAll(async () => {
    [redis, store] = await Promise.all([startRedis(), createStore()]);
    const env = { REDIS_URL: redis.url, AUTH_ACCESS_CACHE_SECONDS: String(CACHE_MS / 1000) };
    const own = { ...env, PORT: String(await freePort()) };
    [a, b] = await Promise.all([startServer({ store, env: own }), startServer({ store, env })]);
    await untilConnected();
  });

  afterEach(() => open.splice(0).forEach((client) => client.close()));

  afterAll(async () => {
    await Promise.all([a.stop(), b.stop()]);
    await Promise.all([redis.stop(), store.drop()]);
  });

  describe.each(['SIGKILL', 'SIGSTOP'] as const)('whose Redis is gone by %s', (signal) => {
    beforeAll(async () => {
      await redis.kill(signal);
      await Promise.all([
        waitFor('both notice it', () => bothSee('away')),
        // Only a request detects a Redis that hangs.
        logIn(a),
        logIn(b),
      ]);
    });

    afterAll(async () => {
      await (signal === 'SIGKILL' ? redis.restart() : redis.kill('SIGCONT'));
      await untilConnected();
    });

    it('stays ready and alive, and serves logins, requests and live connections', async () => {
      for (const server of [a, b]) {
        expect((await call(server, 'GET', '/readyz')).status).toBe(200);
        expect((await call(server, 'GET', '/livez')).status).toBe(200);
        const { token } = await logIn(server);
        const client = await live(server, token);
        await save(server, token, 'x');
        expect(await client.next('update')).toMatchObject({ seq: 1 });
      }
    });

    it('applies a logout at one replica to the other within the cache lifetime: requests and connections', async () => {
      const { token } = await logIn(a);
      const leaving = await live(b, token);
      const staying = await live(b, (await logIn(a)).token);
      expect(await statusAt(b, token)).toBe(200);
      await call(a, 'POST', '/v1/auth/logout', { token });
      expect(await leaving.next('closing')).toMatchObject({ code: 'token-revoked' });
      await leaving.disconnected;
      await waitFor('requests are refused', async () => (await statusAt(b, token)) === 401);
      expect(await staying.socket.emitWithAck('ping')).toEqual({});
    });

    it('sends clients of the other replica the updates that they missed', async () => {
      const { token } = await logIn(a);
      const client = await live(b, token);
      await save(a, token, 'x');
      await save(a, token, 'y');
      // The server may search for missed updates between the two, and again after them.
      let { seq } = await client.next('hello');
      while (seq !== 2) {
        ({ seq } = await client.next('hello'));
      }
      await sleep(2 * CACHE_MS);
      expect(client.waiting('hello')).toBe(0);
    });

    it('answers each of 20 requests while Redis is unavailable', async () => {
      const { token } = await logIn(a);
      for (let count = 0; count < 20; count += 1) {
        expect(await statusAt(a, token)).toBe(200);
      }
      expect(await redisAt(a)).toBe('away');
    });
  });

  it('exchanges messages again once Redis is back, and keeps its connections', async () => {
    const { token } = await logIn(a);
    const clients = [await live(a, token), await live(b, token)];
    await redis.kill('SIGKILL');
    await waitFor('both notice it', () => bothSee('away'));
    await redis.restart();
    await waitFor('both are back', () => bothSee('ready'));
    await untilConnected();
    await save(a, token, 'x');
    for (const client of clients) {
      expect(client.socket.connected).toBe(true);
      expect(await client.next('update')).toMatchObject({ seq: 1 });
    }
  });

  it('starts while Redis is unavailable, and connects once it is back', async () => {
    await redis.kill('SIGKILL');
    const key = makeDeviceKey();
    a = await a.restart();
    expect(await redisAt(a)).toBe('away');
    await logIn(a, key);
    await redis.restart();
    await waitFor('it is found', async () => (await redisAt(a)) === 'ready');
    await untilConnected();
  });

  it('logs one warning for each outage, and no other fault', () => {
    for (const server of [a, b]) {
      expect(server.logs()).not.toMatch(/unhandled|uncaught|MaxListeners/i);
      const changes = server.logs().match(/Redis is (?:not available|ready)/g) ?? [];
      const repeated = changes.filter((one, at) => /not/.test(one) && one === changes[at - 1]);
      expect(repeated).toEqual([]);
    }
  });
});
