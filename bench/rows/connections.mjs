import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { request, signUp, signUpAll } from '../client.mjs';
import { runSql } from '../fixtures.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { ask, cpuTimeMs, memoryOf, PROBE, startLimit, startLoad } from '../processes.mjs';
import { inTurn, median, medianOf, p99Row, ratioRow, row } from '../report.mjs';

const SETTLE_MS = 500;

/** Connections that stay open: sockets, and calls that wait for an answer. */
export const groups = { updates, requests };

const ACCOUNTS = 40;
const SOCKETS = 1000;
/** Open before memory is first read, so that what is allocated once is not divided by sockets. */
const STANDING_SOCKETS = 500;
/** Batches whose connect rate is taken, each of a process that is a little warmer. */
const BATCHES = 3;

async function updates(context) {
  const signedUpAt = await startGatehouse(context);
  const tokens = (await signUpAll(signedUpAt.url, ACCOUNTS)).map(({ token }) => token);
  await signedUpAt.stop();
  const rounds = await inTurn(
    context.rounds,
    async () => measure(context, await startLimit(context, 'updates.mjs', {}, PROBE), tokens),
    async () => measure(context, await startGatehouse(context, { nodeArgs: PROBE }), tokens),
  );
  const [limit, gatehouse] = [rounds.limit, rounds.gatehouse].map((side) =>
    medianOf(side, 'cpuMicros').toFixed(0),
  );
  const work = (what) => `${SOCKETS} sockets at \`/v1/updates\`: ${what}`;
  const memory = { unit: 'KiB', rounds, least: 1.5, goal: 1.2 };
  return [
    ratioRow({
      work: work('connect rate'),
      unit: '/s',
      rounds,
      field: 'perSecond',
      least: 0.7,
      goal: 0.9,
      note: `CPU a connection ${limit} → ${gatehouse} µs`,
    }),
    // It alone would favour a server whose heap had free space before.
    ratioRow({ ...memory, work: work('resident memory a connection'), field: 'residentKiB' }),
    ratioRow({ ...memory, work: work('heap and buffers a connection'), field: 'heapKiB' }),
  ];
}

/** Memory first, on a process that has served few: a heap grown by earlier batches hides it. */
async function measure(context, server, tokens) {
  const clients = startLoad(context, 'socket-load.mjs');
  const connect = async (count) => {
    const cpuBefore = cpuTimeMs(server.pid);
    const { seconds } = await ask(clients, { port: server.port, count, tokens });
    const cpuMs = cpuTimeMs(server.pid) - cpuBefore;
    return { perSecond: count / seconds, cpuMicros: (cpuMs * 1000) / count };
  };
  const close = async () => {
    await ask(clients, 'close');
    await sleep(SETTLE_MS);
  };
  await connect(STANDING_SOCKETS);
  await sleep(SETTLE_MS);
  const before = await memoryOf(server);
  const batches = [await connect(SOCKETS)];
  await sleep(SETTLE_MS);
  const after = await memoryOf(server);
  await close();
  while (batches.length < BATCHES) {
    batches.push(await connect(SOCKETS));
    await close();
  }
  await Promise.all([clients.stop(), server.stop()]);
  return {
    perSecond: medianOf(batches, 'perSecond'),
    cpuMicros: medianOf(batches, 'cpuMicros'),
    residentKiB: (after.rss - before.rss) / SOCKETS / 1024,
    heapKiB: (after.inUse - before.inUse) / SOCKETS / 1024,
  };
}

const WAITS = 10_000;
/** As many as one session may have. */
const WAITS_OF_SESSION = 10;
const ANSWERS = 300;
/** A whole turn: each call comes back after 50 seconds, and is asked again. */
const IDLE_SECONDS = 50;
const OPENED_WITHIN_MS = 120_000;

/** Calls that wait for answers: their memory, their CPU, and the way of an answer to one of them. */
async function requests(context) {
  const server = await startGatehouse(context, { nodeArgs: PROBE });
  const waits = (await signUpAll(server.url, WAITS / WAITS_OF_SESSION, signUpAndAsk)).flat();
  const clients = startLoad(context, 'waiting-calls.mjs');
  await sleep(SETTLE_MS);
  const before = await memoryOf(server);
  await ask(clients, { port: server.port, waits }, OPENED_WITHIN_MS);
  await sleep(SETTLE_MS);
  const after = await memoryOf(server);
  const idle = await idleUse(context, server);
  const times = [];
  for (let index = 0; index < ANSWERS; index += 1) {
    times.push((await ask(clients, { answer: index * ((WAITS / ANSWERS) | 0) })).ms);
  }
  await Promise.all([clients.stop(), server.stop()]);
  return waitRows(before, after, idle, times);
}

function waitRows(before, after, idle, times) {
  const work = (what) => `${WAITS} calls that wait for an answer: ${what}`;
  const perWait = (field) => (after[field] - before[field]) / WAITS / 1024;
  return [
    p99Row({ work: work('from an answer to the woken call, p99'), times, least: 250, goal: 50 }),
    row({
      work: work('resident memory of each'),
      unit: 'KiB',
      gatehouse: perWait('rss'),
      least: 60,
      goal: 40,
      note: `heap and buffers ${perWait('inUse').toFixed(1)} KiB`,
    }),
    row({
      work: work('CPU of each in a second without answers'),
      unit: 'µs',
      gatehouse: idle.cpuMicros,
      least: 50,
      goal: 25,
      note: `asked again every ${IDLE_SECONDS} s`,
    }),
    row({
      work: work('busy connections to the database, median'),
      unit: '',
      gatehouse: idle.busy,
      least: 1,
      goal: 0,
    }),
  ];
}

/** @returns the requests of a new session, with its token */
async function signUpAndAsk(url) {
  const { token } = await signUp(url);
  const waits = [];
  while (waits.length < WAITS_OF_SESSION) {
    const id = randomBytes(16).toString('base64url');
    const sealed = `1.${randomBytes(2000).toString('base64url')}`;
    const body = { id, sealed, expiresAt: Date.now() + 3_600_000 };
    await request(url, 'POST', '/v1/requests', { token, body });
    waits.push({ id, token });
  }
  return waits;
}

async function idleUse({ databaseUrl }, { pid }) {
  const cpuBefore = cpuTimeMs(pid);
  const busy = [];
  for (let second = 0; second < IDLE_SECONDS; second += 1) {
    await sleep(1000);
    const [{ count }] = await runSql(
      databaseUrl,
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE application_name = 'gatehouse' AND state <> 'idle'`,
    );
    busy.push(count);
  }
  const cpuMs = cpuTimeMs(pid) - cpuBefore;
  return { cpuMicros: (cpuMs * 1000) / WAITS / IDLE_SECONDS, busy: median(busy) };
}
