import { createAdapter } from '@socket.io/redis-streams-adapter';
import { Redis } from 'ioredis';
import { Server as SocketServer } from 'socket.io';
import { call, challengedLogin, logIn, makeDeviceKey } from '../../helpers/client.js';
import { connect, type LiveClient } from '../../helpers/client-live.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore, type Store } from '../../fixtures/programs/store-fixture.js';
import { type Service, startRedis, runSql } from '../../fixtures/programs/services-fixture.js';
import { waitFor } from '../../helpers/wait.js';

describe('two replicas on one database and Redis (PostgreSQL only: the embedded one is for one)', () => {
  let redis: Service;
  let store: Store;
  let a: Server;
  let b: Server;

  beforeAll(async () => {
    [redis, store] = await Promise.all([startRedis(), createStore()]);
    const options = { store, env: { REDIS_URL: redis.url, AUTH_ACCESS_CACHE_SECONDS: '60' } };
    [a, b] = await Promise.all([startServer(options), startServer(options)]);
    await untilConnected(a, b);
  });

  afterAll(async () => {
    await Promise.all([a.stop(), b.stop()]);
    await Promise.all([redis.stop(), store.drop()]);
  });

  const statusAt = async (server: Server, token: string): Promise<number> =>
    (await call(server, 'GET', '/v1/push-tokens', { token })).status;

  it('shares accounts and tokens', async () => {
    const key = makeDeviceKey();
    const [one, two] = await Promise.all([logIn(a, key), logIn(b, key)]);
    expect(one.accountId).toBe(two.accountId);
    expect([one.created, two.created].sort()).toEqual([false, true]);
    expect(await statusAt(a, two.token)).toBe(200);
    expect(await statusAt(b, one.token)).toBe(200);
  });

  it('sends updates to clients of the other replica', async () => {
    const { token } = await logIn(a);
    const clients = [await connect(a, { token }), await connect(b, { token })];
    await Promise.all(clients.map((client) => client.next('hello')));
    await call(a, 'POST', '/v1/push-tokens', { token, body: { token: 'x' } });
    await call(b, 'DELETE', '/v1/push-tokens/x', { token });
    for (const client of clients) {
      const seqs = [await client.next('update'), await client.next('update')].map(({ seq }) => seq);
      expect(seqs.sort()).toEqual([1, 2]);
      client.close();
    }
  });

  it.each(['auth', 'header'])('reveals no token sent as %s to a writer to Redis', async (how) => {
    const { token } = await logIn(a);
    const headers = { authorization: `Bearer ${token}` };
    const client = await connect(a, how === 'auth' ? { token } : {}, { extraHeaders: headers });
    await client.next('hello');
    const connection = new Redis(redis.url);
    const outsider = new SocketServer({ adapter: createAdapter(connection) });
    try {
      const sockets = await waitFor('the replicas answer', async () => {
        // A replica that has not noticed the outsider yet does not answer.
        const found = await outsider.fetchSockets().catch(() => []);
        return found.length > 0 && found;
      });
      const seen = JSON.stringify(sockets.map(({ handshake, data }) => ({ handshake, data })));
      expect(seen).toContain('handshake');
      expect(seen).not.toContain(token);
    } finally {
      client.close();
      await outsider.of('/').adapter.close();
      connection.disconnect();
    }
  });

  interface Watched {
    readonly accountId: string;
    readonly client: LiveClient;
  }

  const watch = async (): Promise<Watched> => {
    const { token, accountId } = await logIn(b);
    const client = await connect(b, { token });
    await client.next('hello');
    return { accountId, client };
  };

  /** Neither replica receives a message, so only a database query detects the change. */
  const disable = async (accountId: string): Promise<void> => {
    await runSql(store.databaseUrl, 'UPDATE account SET disabled_at = now() WHERE id = $1', [
      accountId,
    ]);
  };

  /**
   * Open connections are checked soon after they open, then once a minute: the probe passes only
   * by the access cache.
   */
  const judgedOnce = async (): Promise<void> => {
    const { token, accountId } = await logIn(b);
    expect(await statusAt(b, token)).toBe(200);
    await disable(accountId);
    const probe = await connect(b, { token });
    await probe.next('closing');
  };

  it.each(['logout', 'logout-everywhere'])(
    'applies a %s at one replica to the other: calls refused, connection closed',
    async (route) => {
      const { token } = await logIn(a);
      expect(await statusAt(b, token)).toBe(200);
      const live = await connect(b, { token });
      await live.next('hello');
      const late = await watch();
      await judgedOnce();
      await disable(late.accountId);
      await call(a, 'POST', `/v1/auth/${route}`, { token });
      expect(await live.next('closing')).toMatchObject({ code: 'token-revoked' });
      await live.disconnected;
      expect(late.client.waiting('closing')).toBe(0);
      late.client.close();
      const refused = await call(b, 'GET', '/v1/push-tokens', { token });
      expect({ status: refused.status, code: refused.body['code'] }).toEqual({
        status: 401,
        code: 'token-revoked',
      });
    },
  );

  it('accepts a challenge of either replica once', async () => {
    const login = await challengedLogin(a, makeDeviceKey());
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_value, index) =>
        call(index % 2 === 0 ? a : b, 'POST', '/v1/auth', { body: login }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('stops one replica without an effect on the other', async () => {
    const { token } = await logIn(b);
    const live = await connect(a, { token });
    expect(await b.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await statusAt(a, token)).toBe(200);
    expect(await live.socket.emitWithAck('ping')).toEqual({});
    live.close();
    b = await b.restart();
    await untilConnected(a, b);
    expect(await statusAt(b, token)).toBe(200);
  });
});

/** Replicas connect to each other a moment after they are ready. */
async function untilConnected(a: Server, b: Server): Promise<void> {
  for (const server of [a, b]) {
    // The account is new, so that no earlier update of the other server arrives.
    const { token } = await logIn(a);
    const clients = [await connect(a, { token }), await connect(b, { token })];
    for (let turn = 0; clients.some((client) => client.waiting('update') === 0); turn += 1) {
      await call(server, 'POST', '/v1/push-tokens', { token, body: { token: `t${turn}` } });
      await new Promise((done) => setTimeout(done, 50));
    }
    clients.forEach((client) => client.close());
  }
}
