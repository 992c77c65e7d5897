import { Redis } from 'ioredis';
import { call, logIn, type CallOptions } from '../helpers/client.js';
import { connect } from '../helpers/client-live.js';
import { createStore, type Store } from '../helpers/server-store.js';
import { IS_POSTGRES, startServer, type Server } from '../helpers/server.js';
import { startRedis, startSentinel, type Service } from '../helpers/services.js';
import { TcpProxy } from '../helpers/tcp-proxy.js';
import { waitFor } from '../helpers/wait.js';

const PER_MINUTE = 20;
/** Refuses connections: no service listens there. */
const CLOSED_PORT = 1;

const withServices = IS_POSTGRES ? describe : describe.skip;
withServices('a Redis that fails over and keeps its connections (needs Redis)', () => {
  let first: Service;
  let second: Service;
  let proxy: TcpProxy;
  let server: Server;

  beforeAll(async () => {
    [first, second] = await Promise.all([startRedis(), startRedis()]);
    proxy = await TcpProxy.start(portOf(first));
    server = await startServer({
      env: {
        REDIS_URL: proxy.urlFor(first.url),
        SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: String(PER_MINUTE),
      },
    });
  });
  afterAll(async () => {
    await server.stop();
    proxy.close();
    await Promise.all([first.stop(), second.stop()]);
  });

  const isLimited = async (): Promise<boolean> => {
    const answers = Array.from({ length: 2 * PER_MINUTE }, () =>
      call(server, 'GET', '/v1/account/profile'),
    );
    return (await Promise.all(answers)).some(({ status }) => status === 429);
  };

  it('is followed to its new primary: limits hold again without a restart', async () => {
    expect(await isLimited()).toBe(true);
    proxy.leadTo(portOf(second));
    const old = new Redis(first.url);
    await old.replicaof('127.0.0.1', portOf(second));
    old.disconnect();
    await waitFor('limits hold again', isLimited);
  });
});

withServices('a Redis with a Sentinel (needs Redis)', () => {
  it('is used at the primary that the Sentinel names, also after a failover', async () => {
    const first = await startRedis();
    const second = await startRedis();
    const sentinel = await startSentinel('gatehouse', portOf(first));
    const replica = new Redis(second.url);
    await replica.replicaof('127.0.0.1', portOf(first));
    const server = await startServer({
      env: {
        REDIS_URL: 'redis://gatehouse',
        REDIS_SENTINELS: new URL(sentinel.url).host,
        SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: String(PER_MINUTE),
      },
    });
    /** Counts that the server wrote to the second Redis, itself or through the first. */
    const counted = async (): Promise<boolean> => {
      await call(server, 'GET', '/v1/account/profile');
      return (await replica.keys('gatehouse:rate:*')).length > 0;
    };
    try {
      await waitFor('counts at the primary, and a copy', counted);
      await waitFor('the Sentinel knows the replica', async () => {
        const asked = new Redis(sentinel.url);
        const known = (await asked.call('SENTINEL', 'REPLICAS', 'gatehouse')) as unknown[];
        asked.disconnect();
        return known.length > 0;
      });
      await first.kill('SIGKILL');
      await waitFor('the replica is the primary', async () => {
        return String(await replica.info('replication')).includes('role:master');
      });
      await replica.flushall();
      await waitFor('counts at the new primary', counted);
    } finally {
      replica.disconnect();
      await server.stop();
      await Promise.all([first.stop(), second.stop(), sentinel.stop()]);
    }
  });
});

withServices('while Redis is away (needs Redis)', () => {
  let redis: Service;
  let replicas: readonly [Server, Server];
  let nextAddress = 0;

  beforeAll(async () => {
    redis = await startRedis();
    const env = {
      REDIS_URL: redis.url,
      SERVICE_TRUSTED_PROXIES: '127.0.0.1',
      SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: String(PER_MINUTE),
      AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE: '5',
    };
    replicas = await Promise.all([startServer({ env }), startServer({ env })]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await redis.stop();
  });

  /** An address that nothing was counted for yet, as a trusted proxy names it. */
  const newAddress = (): CallOptions => {
    nextAddress += 1;
    return { headers: { 'x-forwarded-for': `10.9.0.${nextAddress}` } };
  };

  const statusesOf = async (
    server: Server,
    count: number,
    from: CallOptions,
    path = '/v1/account/profile',
  ): Promise<number[]> => {
    const method = path === '/v1/auth' ? 'POST' : 'GET';
    const answers = Array.from({ length: count }, () => call(server, method, path, from));
    return (await Promise.all(answers)).map(({ status }) => status);
  };

  /** How many of 30 requests from a new address pass; the others are refused as too many. */
  const passing = async (server: Server): Promise<number> => {
    const statuses = await statusesOf(server, 30, newAddress());
    expect(statuses.filter((status) => status !== 401 && status !== 429)).toEqual([]);
    return statuses.filter((status) => status === 401).length;
  };

  const expectLimitsOfTheirOwn = async (): Promise<void> => {
    for (const replica of replicas) {
      expect(await passing(replica)).toBe(PER_MINUTE);
      const logins = await statusesOf(replica, 8, { ...newAddress(), body: {} }, '/v1/auth');
      expect(logins.filter((status) => status === 429)).toHaveLength(3);
    }
  };

  /** Whether what one replica counted is known to the other. */
  const isShared = async (): Promise<boolean> => {
    const from = newAddress();
    await statusesOf(replicas[0], PER_MINUTE, from);
    return (await statusesOf(replicas[1], 1, from))[0] === 429;
  };

  const untilShared = (): Promise<true> => waitFor('the replicas limit together', isShared);

  it.each(['SIGKILL', 'SIGSTOP'] as const)(
    'after %s each replica limits by itself, and both together once it is back',
    async (signal) => {
      await untilShared();
      const used = newAddress();
      await statusesOf(replicas[0], PER_MINUTE, used);
      await redis.kill(signal);
      // What was counted before Redis went away still counts.
      expect(await statusesOf(replicas[0], 1, used)).toEqual([429]);
      await expectLimitsOfTheirOwn();
      await redis.restart();
      await untilShared();
    },
  );
});

withServices('messages between replicas that are lost (needs Redis)', () => {
  const CACHE_MS = 60_000;
  let redis: Service;
  let store: Store;
  let links: readonly [TcpProxy, TcpProxy];
  let replicas: readonly [Server, Server];

  beforeAll(async () => {
    [redis, store] = await Promise.all([startRedis(), createStore()]);
    links = await Promise.all([TcpProxy.start(portOf(redis)), TcpProxy.start(portOf(redis))]);
    const startBehind = (link: TcpProxy): Promise<Server> =>
      startServer({
        store,
        env: { REDIS_URL: link.urlFor(redis.url), AUTH_ACCESS_CACHE_SECONDS: `${CACHE_MS / 1000}` },
      });
    replicas = await Promise.all([startBehind(links[0]), startBehind(links[1])]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    links.forEach((link) => link.close());
    await Promise.all([redis.stop(), store.drop()]);
  });

  const redisAt = async (server: Server): Promise<unknown> => {
    const { body } = await call<{ dependencies: { redis: string } }>(server, 'GET', '/readyz');
    return body.dependencies.redis;
  };

  const statusAt = async (server: Server, token: string): Promise<number> =>
    (await call(server, 'GET', '/v1/push-tokens', { token })).status;

  /** @returns whether the cache was too young to have ended by itself what ended */
  const revokeWhileCut = async (link: TcpProxy, cut: Server): Promise<boolean> => {
    const [revoking, admitting] = replicas;
    const { token } = await logIn(revoking);
    const client = await connect(admitting, { token });
    await client.next('hello');
    const cachedAt = Date.now();
    expect(await statusAt(admitting, token)).toBe(200);
    link.leadTo(CLOSED_PORT);
    link.cut();
    await waitFor('Redis is away', async () => (await redisAt(cut)) === 'away');
    await call(revoking, 'POST', '/v1/auth/logout-everywhere', { token });
    link.leadTo(portOf(redis));
    await waitFor('the token is refused', async () => (await statusAt(admitting, token)) === 401);
    expect(await client.next('closing')).toMatchObject({ code: 'token-revoked' });
    return Date.now() - cachedAt < CACHE_MS;
  };

  it.each([
    ['revokes', 0],
    ['admits', 1],
  ] as const)('are made up for once the replica that %s is connected again', async (_, index) => {
    // On a slow machine the cache may end first: that shows nothing, so it is tried again.
    await waitFor('the end came before that of the cache', () =>
      revokeWhileCut(links[index], replicas[index]),
    );
  });
});

function portOf({ url }: Service): number {
  return Number(new URL(url).port);
}
