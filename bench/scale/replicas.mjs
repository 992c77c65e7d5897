import { administration } from '../administration.mjs';
import { bearer, postJson, signUp } from '../client.mjs';
import { load } from '../compare-http.mjs';
import { cpuTimeMs } from '../processes.mjs';
import { median } from '../report.mjs';
import { HAS_CPUS, startReplicas } from './balanced-replicas.mjs';
import { openSockets, signUpFor } from './open-sockets.mjs';
import { rowsOf } from './table.mjs';
import { watchAccount } from './watched-account.mjs';

const SIZES = [1, 2, 3];
const ACCOUNTS = 20;
const SOCKETS = 1000;
const WATCHED = 60;
const REVOCATIONS = 5;
/** Each replica compiles for itself. */
const WARM_UP_SECONDS_EACH = 4;

const FIGURES = [
  ['`GET /v1/push-tokens`: requests', '/s'],
  ['CPU a request, all replicas', 'µs'],
  ['connections', '/s'],
  ['CPU a connection, all replicas', 'µs'],
  ['CPU of Redis a connection', 'µs'],
  [`disabled on one replica, until the last of ${WATCHED} sockets on all is closed`, 'ms'],
];

/** One, two and three replicas behind nginx, with Redis between them. */
export const group = {
  name: 'replicas',
  run: async (context) => {
    const measured = [];
    for (const count of SIZES) {
      console.error(`  ${count} replicas`);
      measured.push(await measure(context, count));
    }
    const where = HAS_CPUS
      ? 'Nothing is pinned.'
      : 'All replicas share one CPU, so more of them are not faster here: the CPU a request is what a replica more costs.';
    const note = `nginx, one process, has the CPU of the load. ${where}`;
    return [
      { name: 'replicas', of: 'replicas', sizes: SIZES, rows: rowsOf(FIGURES, measured), note },
    ];
  },
};

async function measure(context, count) {
  const { env: firstEnv, origin, token } = await administration(context, 'operate');
  const fixture = await startReplicas(context, { count, firstEnv });
  const { url, port } = fixture.nginx;
  const figures = [
    ...(await requestFigures(context, fixture, url)),
    ...(await socketFigures(context, fixture, port)),
    await timeRevocations(url, (accountId) =>
      postJson(`${origin}/admin/v1/accounts/${accountId}/disable`, { reason: 'bench' }, token),
    ),
  ];
  await fixture.stop();
  return figures;
}

async function requestFigures(context, { nginx, replicas }, url) {
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => signUp(url)));
  const requests = accounts.map(({ token }) => ({
    path: '/v1/push-tokens',
    headers: bearer(token),
  }));
  await load(context, nginx, requests, WARM_UP_SECONDS_EACH * replicas.length);
  const cpuBefore = cpuOf(replicas);
  const { perSecond, answered } = await load(context, nginx, requests, context.seconds);
  return [perSecond, ((cpuOf(replicas) - cpuBefore) * 1000) / answered];
}

async function socketFigures(context, { redis, replicas, nginx }, port) {
  const tokens = await signUpFor(nginx.url, SOCKETS);
  const before = { replicas: cpuOf(replicas), redis: cpuTimeMs(redis.pid) };
  const sockets = await openSockets(context, port, SOCKETS, tokens);
  const cpu = { replicas: cpuOf(replicas), redis: cpuTimeMs(redis.pid) };
  await sockets.close();
  return [
    SOCKETS / sockets.seconds,
    ((cpu.replicas - before.replicas) * 1000) / SOCKETS,
    ((cpu.redis - before.redis) * 1000) / SOCKETS,
  ];
}

async function timeRevocations(url, disable) {
  const times = [];
  for (let index = 0; index < REVOCATIONS; index += 1) {
    const { accountId, timeUntil } = await watchAccount(url, WATCHED);
    times.push(await timeUntil('disconnect', () => disable(accountId)));
  }
  return median(times);
}

function cpuOf(replicas) {
  return replicas.reduce((sum, { pid }) => sum + cpuTimeMs(pid), 0);
}
