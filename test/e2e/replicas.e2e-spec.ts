import { Client } from 'pg';
import { call, challengedLogin, logIn, makeDeviceKey } from '../helpers/client.js';
import { connect, type LiveClient } from '../helpers/client-live.js';
import { IS_POSTGRES, type Server, startServer } from '../helpers/server.js';
import { createStore, type Store } from '../helpers/server-store.js';
import { type Service, startRedis } from '../helpers/services.js';
import { endSession, sessionIdOf } from './sessions-world.js';

const several = IS_POSTGRES ? describe : describe.skip;
several(
  'two replicas on one database and Redis (PostgreSQL only: the embedded one is for one)',
  () => {
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

    it('know the same accounts and tokens', async () => {
      const key = makeDeviceKey();
      const [one, two] = await Promise.all([logIn(a, key), logIn(b, key)]);
      expect(one.accountId).toBe(two.accountId);
      expect([one.created, two.created].sort()).toEqual([false, true]);
      expect(await statusAt(a, two.token)).toBe(200);
      expect(await statusAt(b, one.token)).toBe(200);
    });

    it('carry updates to clients of the other', async () => {
      const { token } = await logIn(a);
      const clients = [await connect(a, { token }), await connect(b, { token })];
      await Promise.all(clients.map((client) => client.next('hello')));
      await call(a, 'POST', '/v1/push-tokens', { token, body: { token: 'x' } });
      await call(b, 'DELETE', '/v1/push-tokens/x', { token });
      for (const client of clients) {
        const seqs = [await client.next('update'), await client.next('update')].map(
          ({ seq }) => seq,
        );
        expect(seqs.sort()).toEqual([1, 2]);
        client.close();
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

    /** Without a message to either: only what asks the database finds out. */
    const disable = async (accountId: string): Promise<void> => {
      const database = new Client({ connectionString: store.databaseUrl ?? '' });
      await database.connect();
      await database.query('UPDATE account SET disabled_at = now() WHERE id = $1', [accountId]);
      await database.end();
    };

    /**
     * Waits until the connections that are open have been judged against the database, which happens
     * soon after they open, then once a minute: the probe gets in by the access cache alone.
     */
    const judgedOnce = async (): Promise<void> => {
      const { token, accountId } = await logIn(b);
      expect(await statusAt(b, token)).toBe(200);
      await disable(accountId);
      const probe = await connect(b, { token });
      await probe.next('closing');
    };

    it.each(['logout', 'logout-everywhere'])(
      'take a %s on one at the other: calls refused, connection closed',
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

    it('take the end of one session on one at the other, and of no other session', async () => {
      const key = makeDeviceKey();
      const [{ token }, kept] = [await logIn(a, key), await logIn(a, key)];
      expect(await statusAt(b, token)).toBe(200);
      const live = await connect(b, { token });
      const other = await connect(b, { token: kept.token });
      await Promise.all([live.next('hello'), other.next('hello')]);
      await endSession(a, kept.token, sessionIdOf(token));
      expect(await live.next('closing')).toMatchObject({ code: 'token-revoked' });
      await live.disconnected;
      expect(await statusAt(b, token)).toBe(401);
      expect(await statusAt(b, kept.token)).toBe(200);
      expect(other.socket.connected).toBe(true);
      other.close();
    });

    it('let one challenge of either pass once', async () => {
      const login = await challengedLogin(a, makeDeviceKey());
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_value, index) =>
          call(index % 2 === 0 ? a : b, 'POST', '/v1/auth', { body: login }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    });

    it('let one of them go without the other noticing', async () => {
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
  },
);

/** Replicas find each other a moment after they are ready. */
async function untilConnected(a: Server, b: Server): Promise<void> {
  for (const server of [a, b]) {
    // Of an account of its own: no update of the other server is left.
    const { token } = await logIn(a);
    const clients = [await connect(a, { token }), await connect(b, { token })];
    for (let turn = 0; clients.some((client) => client.waiting('update') === 0); turn += 1) {
      await call(server, 'POST', '/v1/push-tokens', { token, body: { token: `t${turn}` } });
      await new Promise((done) => setTimeout(done, 50));
    }
    clients.forEach((client) => client.close());
  }
}
