import { mkdtempSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { request, signUp, signUpAll } from '../client.mjs';
import { load } from '../compare-http.mjs';
import { sumOf, timeStatements, withTimedCluster } from '../database.mjs';
import { freePort, PROXY_PROGRAMS, startProxy, startRedis } from '../fixtures.mjs';
import { administration, migrate, startGatehouse } from '../gatehouse.mjs';
import { CPU_OF, cpuTimeMs, pin } from '../processes.mjs';
import { measureSizes } from '../report.mjs';
import { listsOf } from '../rows/http.mjs';
import { openSockets, timeEnds } from './sockets.mjs';

/** True if replicas have CPUs of their own; otherwise they share those of one server. */
const HAS_CPUS = availableParallelism() > 4;

/** Replicas behind nginx, with Redis between them, and the cost of an act that ends access. */
export const groups = {
  replicas,
  acts: (context) => withTimedCluster(context, acts),
};

const REPLICAS = [1, 2, 3];
const ACCOUNTS = 20;
const SOCKETS = 1000;
/** A replica accepts no more connections of one session. */
const WATCHED = 50;
const REVOCATIONS = 5;
/** Each replica compiles for itself. */
const WARM_UP_SECONDS_EACH = 12;

const FIGURES = [
  ['`GET /v1/push-tokens`: requests', '/s'],
  ['CPU a request, all replicas', 'µs'],
  ['connections', '/s'],
  ['CPU a connection, all replicas', 'µs'],
  ['CPU of Redis a connection', 'µs'],
  [`disabled on one replica, until the last of ${WATCHED} sockets on all is closed`, 'ms'],
];

async function replicas(context) {
  const measured = await measureSizes(REPLICAS, 'replicas', async (count) => {
    const { env: firstEnv, origin, token } = await administration(context, 'operate');
    const fixture = await startReplicas(context, { count, firstEnv });
    const figures = [
      ...(await requestFigures(context, fixture)),
      ...(await socketFigures(context, fixture)),
      await timeEnds(fixture.nginx.url, WATCHED, REVOCATIONS, (account) =>
        disable(origin, token, account),
      ),
    ];
    await fixture.stop();
    return figures;
  });
  const where = HAS_CPUS
    ? 'Nothing is pinned.'
    : 'All replicas share one CPU, so more of them are not faster here: the CPU a request is what a replica more costs.';
  const note = `nginx, one process, has the CPU of the load. ${where}`;
  return [{ of: 'replicas', sizes: REPLICAS, figures: FIGURES, measured, note }];
}

async function requestFigures(context, { nginx, replicas: all }) {
  const requests = listsOf(await signUpAll(nginx.url, ACCOUNTS));
  await load(context, nginx, requests, WARM_UP_SECONDS_EACH * all.length);
  const cpuBefore = cpuOf(all);
  const { perSecond, answered } = await load(context, nginx, requests, context.seconds);
  return [perSecond, ((cpuOf(all) - cpuBefore) * 1000) / answered];
}

async function socketFigures(context, { redis, replicas: all, nginx }) {
  let before;
  const now = () => [cpuOf(all), cpuTimeMs(redis.pid)];
  const sockets = await openSockets(context, nginx, SOCKETS, async () => void (before = now()));
  const cpu = now().map((ms, index) => ((ms - before[index]) * 1000) / SOCKETS);
  await sockets.close();
  return [SOCKETS / sockets.seconds, ...cpu];
}

function cpuOf(all) {
  return all.reduce((sum, { pid }) => sum + cpuTimeMs(pid), 0);
}

function disable(origin, token, { accountId }) {
  const path = `/admin/v1/accounts/${accountId}/disable`;
  return request(origin, 'POST', path, { token, body: { reason: 'bench' } });
}

const ACTING_REPLICAS = [1, 2, 4, 8];
const ACTS = 100;
const SETTLE_MS = 1500;

/** The cost of an act that ends access: messages and statements. */
async function acts(context) {
  await migrate(context);
  const { env: firstEnv, origin, token: operator } = await administration(context, 'operate');
  const kinds = {
    'log out': (url, { token }) => request(url, 'POST', '/v1/auth/logout', { token, body: {} }),
    'log out everywhere': (url, { token }) =>
      request(url, 'POST', '/v1/auth/logout-everywhere', { token, body: {} }),
    disable: (_url, account) => disable(origin, operator, account),
  };
  const measured = await measureSizes(ACTING_REPLICAS, 'replicas', async (count) => {
    const env = () => ({ AUTH_ACCESS_CACHE_SECONDS: '60' });
    const fixture = await startReplicas(context, { count, firstEnv, env });
    const figures = [];
    for (const act of Object.values(kinds)) {
      figures.push(...(await costOf(context, fixture, act)));
    }
    await fixture.stop();
    return figures;
  });
  const figures = Object.keys(kinds).flatMap((kind) => [
    [`${kind}: messages from Redis to the replicas`, 'an act'],
    [`${kind}: statements of all replicas`, 'an act'],
  ]);
  const note = `Means of ${ACTS} acts, each of an account whose session every replica knows, one after another.`;
  return [{ of: 'replicas', sizes: ACTING_REPLICAS, figures, measured, note }];
}

async function costOf({ databaseUrl }, { replicas: all, redis }, act) {
  const [{ url }] = all;
  const client = new Redis(redis.url);
  const accounts = await signUpAll(url, ACTS, async () => {
    const account = await signUp(url);
    const { token } = account;
    await Promise.all(all.map((one) => request(one.url, 'GET', '/v1/push-tokens', { token })));
    return account;
  });
  // Uses of sessions are stored a moment later.
  await sleep(SETTLE_MS);
  const before = await published(client);
  const { statements } = await timeStatements(databaseUrl, async () => {
    for (const account of accounts) {
      await act(url, account);
    }
    await sleep(SETTLE_MS);
  });
  const messages = ((await published(client)) - before) * (await subscribers(client));
  client.disconnect();
  return [messages / ACTS, sumOf(statements, 'calls') / ACTS];
}

async function published(redis) {
  const [, calls = '0'] =
    /cmdstat_publish:calls=(\d+)/.exec(await redis.info('commandstats')) ?? [];
  return Number(calls);
}

/** @returns {Promise<number>} the replicas that receive a message about access */
async function subscribers(redis) {
  const channels = await redis.pubsub('CHANNELS', '*');
  const counts = await redis.pubsub('NUMSUB', ...channels);
  return Math.max(...counts.filter((_, index) => index % 2 === 1).map(Number));
}

/**
 * Replicas with a Redis of their own, behind nginx that takes them in turn.
 *
 * @param {{count: number, firstEnv: Record<string, string>, env?: (url: string) => Record<string, string>}} how
 *   `firstEnv` are variables of the first alone; `env` gets the address of nginx
 */
export async function startReplicas(context, { count, firstEnv, env = () => ({}) }) {
  const redis = await startRedis();
  pin(redis, CPU_OF.database);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const all = [];
  while (all.length < count) {
    const own = all.length === 0 ? firstEnv : {};
    all.push(
      await startGatehouse(context, {
        env: { ...env(url), ...own, REDIS_URL: redis.url },
        isPinned: !HAS_CPUS,
      }),
    );
  }
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-nginx-'));
  const file = join(home, 'nginx.conf');
  writeFileSync(file, configuration(home, port, all));
  const nginx = await startProxy(PROXY_PROGRAMS.nginx, file, home, port);
  pin(nginx, CPU_OF.load);
  return {
    nginx: { pid: nginx.pid, port, url, log: nginx.output },
    replicas: all,
    redis,
    stop: () => Promise.all([nginx, ...all, redis].map((one) => one.stop())),
  };
}

/** Configures one process of the current user, with its folders in `home`. */
function configuration(home, port, all) {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
master_process off;
events { worker_connections 16384; }
http {
  access_log off;
  # By default nginx closes a connection after 1,000 requests, and the load generator counts a failure.
  keepalive_requests 1000000000;
  ${folders.map((folder) => `${folder}_temp_path ${home}/${folder};`).join('\n  ')}
  map $http_upgrade $connection_header { default upgrade; '' ''; }
  upstream gatehouse {
    ${all.map((one) => `server 127.0.0.1:${one.port};`).join('\n    ')}
    keepalive 64;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://gatehouse;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_header;
      proxy_read_timeout 120s;
    }
  }
}
`;
}
