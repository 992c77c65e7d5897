import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeDeviceKey, postJson, signedLogin } from '../client.mjs';
import { migrate, POOL_SIZE, startGatehouse } from '../gatehouse.mjs';
import { startCluster } from '../postgres.mjs';
import {
  CPU_OF,
  cpuTimeMs,
  crowdedOutMs,
  freePort,
  messageFrom,
  startNode,
} from '../processes.mjs';
import { row } from '../report.mjs';
import { watchDatabase } from './database-use.mjs';

const name = 'reconnect';
const LOAD_PROCESSES = 2;
const SIGN_UPS_AT_ONCE = 32;
const REQUESTS_PER_SECOND = 200;
const SETTLE_MS = 5000;
const QUIET_MS = 10_000;
const BACK_WITHIN_MS = 120_000;
const STEP_MS = 50;

/** Sockets of as many accounts, all of which lose their server. */
export const group = {
  name,
  run: async (context) => {
    const cluster = await startCluster(context.directory, { name });
    const fixed = { ...context, databaseUrl: cluster.url, port: await freePort() };
    await migrate(fixed);
    const first = await startServer(fixed, { env: { AUTH_REQUIRE_SERVER_CHALLENGE: 'false' } });
    const tokens = await signUpAll(first.url, context.sockets);
    await kill(first);
    let server = await startServer(fixed);
    const clients = startClients(fixed, tokens);
    await clients.untilAllJoined();
    const requests = startRequests(fixed, tokens[0]);
    await sleep(SETTLE_MS);
    const quietFrom = Date.now();
    await sleep(QUIET_MS);
    const quiet = await requests.between(quietFrom, Date.now());

    const killed = await timeReturn(fixed, clients, requests, async () => {
      await kill(server);
      return (server = await startServer(fixed));
    });
    await sleep(SETTLE_MS);
    const afterOutage = await timeReturn(fixed, clients, requests, async () => {
      await cluster.stop();
      await kill(server);
      server = await startServer(fixed, { until: 'listening' });
      await sleep(context.outageSeconds * 1000);
      await cluster.start();
      return server;
    });
    return [
      ...rowsOf('after the server was killed', quiet, killed),
      ...rowsOf(`after ${context.outageSeconds} s without database or sockets`, quiet, afterOutage),
    ];
  },
};

function startServer({ port, ...context }, how = {}) {
  return startGatehouse(context, { ...how, port });
}

async function kill(server) {
  const ended = once(server.child, 'exit');
  server.child.kill('SIGKILL');
  await ended;
}

async function signUpAll(url, count) {
  const tokens = [];
  const worker = async () => {
    while (tokens.length < count) {
      const index = tokens.push(null) - 1;
      tokens[index] = (await postJson(`${url}/v1/auth`, signedLogin(makeDeviceKey()))).token;
    }
  };
  await Promise.all(Array.from({ length: SIGN_UPS_AT_ONCE }, worker));
  console.error(`  ${count} accounts signed up`);
  return tokens;
}

/** Clients in processes of their own; what they report is added up. */
function startClients({ directory, port }, tokens) {
  const size = Math.ceil(tokens.length / LOAD_PROCESSES);
  const reports = Array.from({ length: LOAD_PROCESSES }, (_, index) => {
    const report = {};
    const load = startNode({
      file: join(import.meta.dirname, '../load/reconnect-load.mjs'),
      cpu: CPU_OF.load,
      directory,
    });
    load.child.on('message', (message) => Object.assign(report, message));
    const firstAddress = index * size;
    load.child.send({
      port,
      firstAddress,
      tokens: tokens.slice(firstAddress, firstAddress + size),
    });
    return report;
  });
  const sum = (field) => reports.reduce((total, report) => total + (report[field] ?? 0), 0);
  const until = async (isReached) => {
    const deadline = Date.now() + BACK_WITHIN_MS;
    while (!isReached(sum('joined'))) {
      if (Date.now() > deadline) {
        throw new Error(`${sum('joined')} of ${tokens.length} sockets are joined`);
      }
      await sleep(STEP_MS);
    }
  };
  return {
    refused: () => sum('refused'),
    untilAllJoined: () => until((joined) => joined === tokens.length),
    untilNoneJoined: () => until((joined) => joined === 0),
  };
}

function startRequests({ directory, port }, token) {
  const load = startNode({
    file: join(import.meta.dirname, '../load/steady-requests.mjs'),
    cpu: CPU_OF.load,
    directory,
  });
  load.child.send({ port, token, path: '/v1/push-tokens', perSecond: REQUESTS_PER_SECOND });
  return {
    between: (from, to) => {
      load.child.send({ from, to });
      return messageFrom(load);
    },
  };
}

/** @param {() => Promise<{pid: number}>} fail takes the sockets their server; resolves with the one that serves again */
async function timeReturn({ databaseUrl }, clients, requests, fail) {
  const refusedBefore = clients.refused();
  const gone = clients.untilNoneJoined();
  const { pid } = await fail();
  const from = Date.now();
  const cpuBefore = cpuTimeMs(pid);
  const crowdedBefore = crowdedOutMs(pid);
  const database = await watchDatabase(databaseUrl);
  await gone;
  await clients.untilAllJoined();
  const to = Date.now();
  const busy = (cpuTimeMs(pid) - cpuBefore) / (to - from);
  const crowdedOut = (crowdedOutMs(pid) - crowdedBefore) / (to - from);
  const use = await database.stop();
  return {
    seconds: (to - from) / 1000,
    busy,
    crowdedOut,
    refused: clients.refused() - refusedBefore,
    requests: await requests.between(from, to),
    ...use,
  };
}

function rowsOf(when, quiet, reconnect) {
  const { seconds, refused, requests, connections, transactions } = reconnect;
  const percent = (field) => `${(reconnect[field] * 100).toFixed(0)} %`;
  const about = { name, limit: null, bar: 'at most', goal: null };
  return [
    row({
      ...about,
      work: `until all sockets are back, ${when}`,
      unit: 's',
      gatehouse: seconds,
      least: 30,
      note: `${refused} handshakes refused; server ${percent('busy')} busy, ${percent('crowdedOut')} crowded out by other processes`,
    }),
    row({
      ...about,
      work: `most database connections, ${when}`,
      unit: 'connections',
      gatehouse: connections,
      least: POOL_SIZE,
      note: `${transactions - requests.count} transactions in addition to those of the requests`,
    }),
    row({
      ...about,
      work: `p99 of other requests, quiet and ${when}`,
      unit: 'ms',
      limit: quiet.p99Ms,
      gatehouse: requests.p99Ms,
      least: 5,
      note: `${requests.count} requests, ${requests.refused} of them 503, ${requests.failed} failed`,
    }),
  ];
}
