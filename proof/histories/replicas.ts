import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { AdminTokensFile } from '../../test/fixtures/admin-fixture.js';
import { OffboardingFixture } from '../../test/fixtures/offboarding-fixture.js';
import {
  OWN_PROCESS,
  startServer,
  type Server,
} from '../../test/fixtures/programs/server-fixture.js';
import { freePort } from '../../test/fixtures/programs/service-process.js';
import { startPostgres, type Service } from '../../test/fixtures/programs/services-fixture.js';
import { createPostgresStore } from '../../test/fixtures/programs/store-fixture.js';
import { call } from '../../test/helpers/client.js';
import { BEHIND_PROXY } from '../../test/helpers/device-calls.js';
import { TcpProxy } from '../../test/helpers/tcp-proxy.js';
import { waitFor } from '../../test/helpers/wait.js';

const CLOCK = new URL('stepped-clock.mjs', import.meta.url).href;
/** No server listens there. */
const CLOSED_PORT = 9;

/** A killed PostgreSQL has then lost every transaction that it acknowledged before it was written. */
const LATE_WRITES = { wal_writer_delay: '10s', wal_writer_flush_after: '64MB' };

/** Kills of the database in one fault. */
const KILLS = 4;

/** The shortest bounds that the configuration has. */
export const CACHE_SECONDS = 1;

/** A replica of the built server behind proxies, whose wall clock can be stepped. */
export interface Replica {
  readonly name: string;
  server: Server;
  readonly adminUrl: string;
  readonly redis: Cuttable;
  readonly database: Cuttable;
}

/** A connection of a replica that can be cut for a while. */
class Cuttable {
  private constructor(
    private readonly proxy: TcpProxy,
    private readonly port: number,
    readonly url: string,
  ) {}

  static async of(url: string): Promise<Cuttable> {
    const port = Number(new URL(url).port);
    const proxy = await TcpProxy.start(port);
    return new Cuttable(proxy, port, proxy.urlFor(url));
  }

  cut(): void {
    this.proxy.leadTo(CLOSED_PORT);
    this.proxy.cut();
  }

  mend(): void {
    this.proxy.leadTo(this.port);
  }

  close(): void {
    this.proxy.close();
  }
}

/** Replicas on a PostgreSQL of their own, which can be killed. */
export class Replicas {
  private constructor(
    readonly fixture: OffboardingFixture,
    readonly tokens: AdminTokensFile,
    readonly postgres: Service,
    readonly all: readonly Replica[],
  ) {}

  static async start(count: number): Promise<Replicas> {
    const postgres = await startPostgres({ durable: true, settings: LATE_WRITES });
    const store = await createPostgresStore(postgres.url);
    const [fixture, tokens] = await Promise.all([
      OffboardingFixture.open(store),
      AdminTokensFile.create(),
    ]);
    const names = Array.from({ length: count }, (_, index) => `replica-${index + 1}`);
    const all = await Promise.all(names.map((name) => startReplica(name, fixture, tokens)));
    return new Replicas(fixture, tokens, postgres, all);
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map(({ server }) => server.stop()));
    this.all.forEach(({ redis, database }) => [redis, database].forEach((one) => one.close()));
    await this.fixture.close();
    await this.postgres.stop();
  }

  /** Waits until the replicas answer again after a fault of the database. One that has ended fails with its log. */
  async untilReady(replicas: readonly Replica[] = this.all): Promise<void> {
    for (const { name, server } of replicas) {
      await waitFor(
        () => `${name} is ready: ${server.logs().slice(-2000)}`,
        async () => {
          if (await hasEnded(server)) {
            throw new Error(`${name} has ended: ${server.logs().slice(-2000)}`);
          }
          const answer = await call(server, 'GET', '/readyz').catch(() => null);
          return answer?.status === 200;
        },
      );
    }
  }

  /** Faults by name: each ends after `ms`. */
  readonly faults: Readonly<Record<string, (replica: Replica, ms: number) => Promise<void>>> = {
    kill: async (replica) => {
      replica.server = await replica.server.restart();
    },
    stop: async ({ server }, ms) => {
      process.kill(server.pid, 'SIGSTOP');
      await sleep(ms);
      process.kill(server.pid, 'SIGCONT');
    },
    'redis-cut': async ({ redis }, ms) => {
      redis.cut();
      await sleep(ms);
      redis.mend();
    },
    'database-cut': async (replica, ms) => {
      replica.database.cut();
      await sleep(ms);
      replica.database.mend();
      await this.untilReady([replica]);
    },
    'database-killed': async (_, ms) => {
      // The later kills meet replicas that open their connections again.
      for (let kill = 0; kill < KILLS; kill += 1) {
        await this.postgres.restart();
        await sleep(ms / KILLS);
      }
      await this.untilReady();
    },
    clock: async ({ server }, ms) => {
      process.kill(server.pid, 'SIGUSR2');
      await sleep(ms);
      process.kill(server.pid, 'SIGUSR2');
    },
  };
}

function hasEnded({ exited }: Server): Promise<boolean> {
  return Promise.race([exited.then(() => true), nextTurn(false)]);
}

async function startReplica(
  name: string,
  { store, env }: OffboardingFixture,
  tokens: AdminTokensFile,
): Promise<Replica> {
  const [redis, database, adminPort] = await Promise.all([
    Cuttable.of(env['REDIS_URL'] ?? ''),
    Cuttable.of(store.databaseUrl ?? ''),
    freePort(),
  ]);
  const server = await startServer({
    store,
    host: OWN_PROCESS,
    env: {
      ...env,
      ...BEHIND_PROXY,
      ...tokens.env,
      ADMIN_PORT: String(adminPort),
      AUTH_ACCESS_CACHE_SECONDS: String(CACHE_SECONDS),
      AUTH_FRESH_LOGIN_SECONDS: '0',
      AUTH_OFFBOARDING_ENABLED: 'false',
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      NODE_OPTIONS: `--import=${CLOCK}`,
    },
  });
  return { name, server, adminUrl: `http://127.0.0.1:${adminPort}`, redis, database };
}
