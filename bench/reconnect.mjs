import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { request, signUpAll } from './client.mjs';
import { startCluster } from './database.mjs';
import { freePort, loginBody, makeDeviceKey } from './fixtures.mjs';
import { migrate, POOL_SIZE, startGatehouse } from './gatehouse.mjs';
import { ask, CPU_OF, cpuTimeMs, crowdedOutMs, pin, startLoad } from './processes.mjs';
import { row } from './report.mjs';
import { listsOf, REPEATABLE } from './rows/http.mjs';

const LOAD_PROCESSES = 2;
const REQUESTS_PER_SECOND = 200;
const CONNECTIONS = 10;
const SETTLE_MS = 5000;
const QUIET_MS = 10_000;
const BACK_WITHIN_MS = 120_000;
const STEP_MS = 50;

/** Sockets of as many accounts, all of which lose their server. */
export const groups = {
  reconnect: async ({ sockets, outage, ...context }) => {
    const cluster = await startCluster();
    const fixed = { ...context, databaseUrl: cluster.url };
    const port = await freePort();
    const start = (how) => startGatehouse(fixed, { ...how, port });
    await migrate(fixed);
    const first = await start({ env: REPEATABLE });
    const accounts = await signUpAll(first.url, sockets, signUpAtOnce);
    await kill(first);
    let server = await start();
    const clients = startClients(fixed, port, accounts);
    await clients.untilAllJoined();
    await sleep(SETTLE_MS);
    const steady = await startRequests(fixed, server, accounts[0]);
    await sleep(QUIET_MS);
    const quiet = await steady.stop();

    const killed = await timeReturn(fixed, clients, accounts, async () => {
      await kill(server);
      return (server = await start());
    });
    await sleep(SETTLE_MS);
    const afterOutage = await timeReturn(fixed, clients, accounts, async () => {
      await cluster.kill('SIGINT');
      await kill(server);
      server = await start({ until: 'listening' });
      await sleep(outage * 1000);
      await cluster.restart();
      pin(cluster, CPU_OF.database);
      return server;
    });
    await cluster.stop();
    return [
      ...rowsOf('after the server was killed', quiet, killed),
      ...rowsOf(`after ${outage} s without database or sockets`, quiet, afterOutage),
    ];
  },
};

async function kill(server) {
  const ended = once(server.child, 'exit');
  server.child.kill('SIGKILL');
  await ended;
}

function signUpAtOnce(url) {
  return request(url, 'POST', '/v1/auth', { body: loginBody(makeDeviceKey()) });
}

/** Clients in processes of their own; what they report is added up. */
function startClients(context, port, accounts) {
  const size = Math.ceil(accounts.length / LOAD_PROCESSES);
  const reports = Array.from({ length: LOAD_PROCESSES }, (_, index) => {
    const report = {};
    const firstAddress = index * size;
    const own = accounts.slice(firstAddress, firstAddress + size);
    const tokens = own.map(({ token }) => token);
    const load = startLoad(context, 'reconnect-load.mjs', { port, firstAddress, tokens });
    load.child.on('message', (message) => Object.assign(report, message));
    return report;
  });
  const sum = (field) => reports.reduce((total, report) => total + (report[field] ?? 0), 0);
  const untilJoined = async (count) => {
    const deadline = Date.now() + BACK_WITHIN_MS;
    while (sum('joined') !== count) {
      if (Date.now() > deadline) {
        throw new Error(`${sum('joined')} of ${accounts.length} sockets are joined`);
      }
      await sleep(STEP_MS);
    }
  };
  return {
    refused: () => sum('refused'),
    untilAllJoined: () => untilJoined(accounts.length),
    untilNoneJoined: () => untilJoined(0),
  };
}

/** Asks at a steady rate. @returns what `stop` resolves with: the figures until then */
async function startRequests(context, { url }, account) {
  const load = startLoad(context, 'http-load.mjs');
  await ask(load, {
    url,
    connections: CONNECTIONS,
    overallRate: REQUESTS_PER_SECOND,
    seconds: BACK_WITHIN_MS / 1000,
    requests: listsOf([account]),
  });
  return {
    stop: async () => {
      const result = await ask(load, 'stop');
      await load.stop();
      return result;
    },
  };
}

/** @param {() => Promise<{pid: number}>} fail takes the sockets their server; resolves with the one that serves again */
async function timeReturn(context, clients, accounts, fail) {
  const refusedBefore = clients.refused();
  const gone = clients.untilNoneJoined();
  const server = await fail();
  const from = Date.now();
  const use = () => [cpuTimeMs(server.pid), crowdedOutMs(server.pid)];
  const before = use();
  const database = await watchDatabase(context.databaseUrl);
  const steady = await startRequests(context, server, accounts[0]);
  await gone;
  await clients.untilAllJoined();
  const elapsedMs = Date.now() - from;
  const [busy, crowdedOut] = use().map((ms, index) => (ms - before[index]) / elapsedMs);
  return {
    seconds: elapsedMs / 1000,
    busy,
    crowdedOut,
    refused: clients.refused() - refusedBefore,
    requests: await steady.stop(),
    ...(await database.stop()),
  };
}

const SAMPLE_MS = 25;
/** PostgreSQL's counts lag behind by that much. */
const COUNTED_AFTER_MS = 1500;

const IN_USE = `SELECT count(*) AS count FROM pg_stat_activity
  WHERE application_name = 'gatehouse'`;
const TRANSACTIONS = `SELECT xact_commit AS count FROM pg_stat_database
  WHERE datname = current_database()`;

/**
 * Watches how a database is used, over one connection.
 *
 * @returns {Promise<{stop: () => Promise<{connections: number, transactions: number}>}>} the most
 *   connections of Gatehouse at one time, and the transactions until it is stopped, less its own
 */
async function watchDatabase(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const count = async (sql) => Number((await client.query(sql)).rows[0].count);
  const before = await count(TRANSACTIONS);
  let connections = 0;
  let own = 1;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      connections = Math.max(connections, await count(IN_USE));
      own += 1;
      await sleep(SAMPLE_MS);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await watching;
      await sleep(COUNTED_AFTER_MS);
      const transactions = (await count(TRANSACTIONS)) - before - own;
      await client.end();
      return { connections, transactions };
    },
  };
}

function rowsOf(when, quiet, reconnect) {
  const { seconds, refused, requests, connections, transactions } = reconnect;
  const { answered, failed } = requests;
  const percent = (field) => `${(reconnect[field] * 100).toFixed(0)} %`;
  return [
    row({
      work: `until all sockets are back, ${when}`,
      unit: 's',
      gatehouse: seconds,
      least: 30,
      note: `${refused} handshakes refused; server ${percent('busy')} busy, ${percent('crowdedOut')} crowded out by other processes`,
    }),
    row({
      work: `most database connections, ${when}`,
      unit: 'connections',
      gatehouse: connections,
      least: POOL_SIZE,
      note: `${transactions - answered} transactions in addition to those of the requests`,
    }),
    row({
      work: `p99 of other requests, quiet and ${when}`,
      unit: 'ms',
      limit: quiet.p99Ms,
      gatehouse: requests.p99Ms,
      least: 5,
      note: `${answered + failed} requests, ${requests.refused} of them 503, ${failed - requests.refused} failed`,
    }),
  ];
}
