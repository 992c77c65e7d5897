import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import { createCliUser } from '../../fixtures/programs/cli-fixture.js';
import { call, logIn, type CallOptions } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import {
  startRedisCluster,
  type RedisCluster,
} from '../../fixtures/programs/redis-cluster-fixture.js';
import { createStore, type Store } from '../../fixtures/programs/store-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import {
  startRedis,
  startSentinel,
  type Service,
} from '../../fixtures/programs/services-fixture.js';
import { TcpProxy } from '../../helpers/tcp-proxy.js';
import { waitFor } from '../../helpers/wait.js';

const PER_MINUTE = 20;
/** Only messages between replicas end cached authentications earlier. */
const CACHE_MS = 60_000;
const OPERATORS = 'gatehouse:operator:0';
/** Refuses connections, because no service listens there. */
const CLOSED_PORT = 1;

describe('a Redis that fails over and keeps its connections', () => {
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

  it('follows Redis to its new primary: limits are enforced again without a restart', async () => {
    await waitFor('limits hold', isLimited);
    proxy.leadTo(portOf(second));
    const old = new Redis(first.url);
    await old.replicaof('127.0.0.1', portOf(second));
    old.disconnect();
    await waitFor('limits hold again', isLimited);
  });
});

describe('a Redis with a Sentinel', () => {
  it('connects to the primary that the Sentinel names, also after a failover', async () => {
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
    /** Returns true if the second Redis has counters, written directly or by replication. */
    const counted = async (): Promise<boolean> => {
      await call(server, 'GET', '/v1/account/profile');
      return (await replica.keys('gatehouse:rate:*')).length > 0;
    };
    try {
      await waitFor('counts at the primary, and a copy', counted);
      await waitFor('the Sentinel knows the replica', async () => {
        const client = new Redis(sentinel.url);
        const known = (await client.call('SENTINEL', 'REPLICAS', 'gatehouse')) as unknown[];
        client.disconnect();
        return known.length > 0;
      });
      await first.kill('SIGKILL');
      await waitFor('the replica is the primary', async () => {
        return (await replica.info('replication')).includes('role:master');
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

describe('a Redis Cluster', () => {
  const directory = certificateDirectory();
  const authority = TestAuthority.root(directory, 'Corp');
  const usage = 'serverAuth,clientAuth';
  const tls = {
    ...authority.issue({ names: ['IP:127.0.0.1'], usage }),
    caPath: authority.certPath,
  };
  let cluster: RedisCluster;
  let store: Store;
  let replicas: [Server, Server];
  let plain: Readonly<Record<string, string>>;

  beforeAll(async () => {
    [cluster, store] = await Promise.all([
      startRedisCluster({ tls, password: 'pass:word/1%' }),
      createStore(),
    ]);
    const [first, second, third] = cluster.primaries;
    const common = {
      AUTH_ACCESS_CACHE_SECONDS: `${CACHE_MS / 1000}`,
      // A session may use half of it.
      SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE: String(2 * PER_MINUTE),
    };
    const encrypted = {
      REDIS_URL: second.tlsUrl,
      REDIS_CLUSTER_NODES: new URL(first.tlsUrl).host,
      SERVICE_CA_BUNDLE: authority.certPath,
    };
    plain = { REDIS_URL: first.plainUrl, REDIS_CLUSTER_NODES: new URL(third.plainUrl).host };
    replicas = await Promise.all([
      startServer({ store, env: { ...common, ...encrypted } }),
      startServer({ store, env: { ...common, ...plain } }),
    ]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await Promise.all([cluster.stop(), store.drop()]);
  });

  const updateCrosses = async (from: Server, to: Server): Promise<boolean> => {
    const { token } = await logIn(from);
    const client = await connect(to, { token });
    await client.next('hello');
    await call(from, 'POST', '/v1/push-tokens', { token, body: { token: 'x' } });
    // The caller retries, in case the message was lost.
    await sleep(200);
    client.close();
    return client.waiting('update') > 0;
  };

  /** @returns whether the cache was too young to have ended the connection */
  const revocationCrosses = async (from: Server, to: Server): Promise<boolean> => {
    const { token } = await logIn(from);
    const client = await connect(to, { token });
    const connectedAt = Date.now();
    await call(from, 'POST', '/v1/auth/logout-everywhere', { token });
    expect(await client.next('closing')).toMatchObject({ code: 'token-revoked' });
    return Date.now() - connectedAt < CACHE_MS;
  };

  const isCountedTogether = async (from: Server, to: Server): Promise<boolean> => {
    const { token } = await logIn(from);
    const calls = Array.from({ length: PER_MINUTE }, () => statusAt(from, token));
    expect(await Promise.all(calls)).not.toContain(429);
    return (await statusAt(to, token)) === 429;
  };

  const untilShared = async (): Promise<void> => {
    for (const [from, to] of [replicas, replicas.toReversed() as [Server, Server]]) {
      await waitFor('Redis is ready', async () => (await redisAt(from)) === 'ready');
      await waitFor('an update crosses', () => updateCrosses(from, to));
      await waitFor('a revocation crosses', () => revocationCrosses(from, to));
      await waitFor('a limit counts for both', () => isCountedTogether(from, to));
    }
  };

  it('carries updates, revocations and limits between replicas, with and without TLS', async () => {
    await untilShared();
  });

  it('applies changes of the command line on every replica', async () => {
    const { token, accountId } = await logIn(replicas[0]);
    const clients = await Promise.all(replicas.map((replica) => connect(replica, { token })));
    await waitFor('both listen for operators', async () => {
      const replies = cluster.primaries.map((one) =>
        cluster.ask(one, 'PUBSUB', 'NUMSUB', OPERATORS),
      );
      const counts = (await Promise.all(replies)).map((text) => Number(text.split(',')[1]));
      return counts.reduce((sum, count) => sum + count) === replicas.length;
    });
    const user = await createCliUser();
    const disable = ['account', 'disable', accountId, '--reason', 'left'];
    const { stdout } = await user.run(disable, { ...store.env, ...plain });
    expect(stdout).toContain('Running servers were notified');
    for (const client of clients) {
      expect(await client.next('closing')).toMatchObject({ code: 'account-disabled' });
    }
  });

  it('follows a shard to its new primary, also from a replica that starts then', async () => {
    const { primaries, replica, ask } = cluster;
    await primaries[1].kill('SIGKILL');
    for (const server of replicas) {
      expect(await statusAt(server, (await logIn(server)).token)).toBe(200);
    }
    await waitFor('the shard has a new primary', async () =>
      (await ask(replica, 'INFO', 'replication')).includes('role:master'),
    );
    await untilShared();
    expect(replicas.map((server) => server.logs()).join()).not.toMatch(/unhandled|uncaught/i);
    replicas[0] = await replicas[0].restart();
    await untilShared();
  });
});

describe('while Redis is unavailable', () => {
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

  /** Returns an address without counted requests, as a trusted proxy forwards it. */
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

  /** Sends 30 requests from a new address. */
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

  const isShared = async (): Promise<boolean> => {
    const from = newAddress();
    await statusesOf(replicas[0], PER_MINUTE, from);
    return (await statusesOf(replicas[1], 1, from))[0] === 429;
  };

  const untilShared = (): Promise<true> => waitFor('the replicas limit together', isShared);

  it.each(['SIGKILL', 'SIGSTOP'] as const)(
    'limits per replica after %s, and across replicas once Redis is back',
    async (signal) => {
      await untilShared();
      const used = newAddress();
      await statusesOf(replicas[0], PER_MINUTE, used);
      await redis.kill(signal);
      // Requests that were counted before the outage of Redis still count.
      expect(await statusesOf(replicas[0], 1, used)).toEqual([429]);
      await expectLimitsOfTheirOwn();
      await redis.restart();
      await untilShared();
    },
  );
});

describe('lost messages between replicas', () => {
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
  ] as const)(
    'applies missed changes once the replica that %s is connected again',
    async (_, index) => {
      // On a slow machine the cache may expire first, which proves nothing, so the attempt is
      // repeated.
      await waitFor('the end came before that of the cache', () =>
        revokeWhileCut(links[index], replicas[index]),
      );
    },
  );
});

async function redisAt(server: Server): Promise<unknown> {
  const { body } = await call<{ dependencies: { redis: string } }>(server, 'GET', '/readyz');
  return body.dependencies.redis;
}

async function statusAt(server: Server, token: string): Promise<number> {
  return (await call(server, 'GET', '/v1/push-tokens', { token })).status;
}

function portOf({ url }: Service): number {
  return Number(new URL(url).port);
}
