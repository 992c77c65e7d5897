import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { postJson, signUp } from '../client.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { quantile } from '../guarded-backend.mjs';
import { CPU_OF, cpuTimeMs, messageFrom, startNode } from '../processes.mjs';
import { median, row } from '../report.mjs';

const name = 'requests';
const WAITS = 10_000;
/** As many as one session may have. */
const WAITS_OF_SESSION = 10;
const ANSWERS = 300;
/** A whole turn: each call comes back after 50 seconds, and is asked again. */
const IDLE_SECONDS = 50;
const AT_ONCE = 50;
const SETTLE_MS = 500;
const OPENED_WITHIN_MS = 120_000;
const PROBE = ['--expose-gc', '--import', join(import.meta.dirname, '../process-probe.mjs')];

/** Calls that wait for answers: their memory, their CPU, and the way of an answer to one of them. */
export const group = {
  name,
  run: async (context) => {
    const server = await startGatehouse(context, { nodeArgs: PROBE });
    const waits = await askAll(server.url);
    const clients = startNode({
      file: join(import.meta.dirname, '../load/waiting-calls.mjs'),
      cpu: CPU_OF.load,
      directory: context.directory,
    });
    await sleep(SETTLE_MS);
    const before = await memoryOf(server);
    clients.child.send({ port: server.port, waits });
    await messageFrom(clients, OPENED_WITHIN_MS);
    await sleep(SETTLE_MS);
    const after = await memoryOf(server);
    const idle = await idleUse(context, server);
    const times = [];
    for (let index = 0; index < ANSWERS; index += 1) {
      clients.child.send({ answer: index * ((WAITS / ANSWERS) | 0) });
      times.push((await messageFrom(clients)).ms);
    }
    await Promise.all([clients.stop(), server.stop()]);
    return rowsOf({ before, after, idle, times });
  },
};

function rowsOf({ before, after, idle, times }) {
  const work = (what) => `${WAITS} calls that wait for an answer: ${what}`;
  const perWait = (bytes) => bytes / WAITS / 1024;
  const absolute = { name, limit: null, bar: 'at most' };
  return [
    row({
      ...{ ...absolute, work: work('from an answer to the woken call, p99'), unit: 'ms' },
      ...{ gatehouse: quantile(times, 0.99), least: 250, goal: 50, rounds: times },
      note: `median ${median(times).toFixed(1)} ms`,
    }),
    row({
      ...{ ...absolute, work: work('resident memory of each'), unit: 'KiB' },
      ...{ gatehouse: perWait(after.rss - before.rss), least: 60, goal: 40 },
      note: `heap and buffers ${perWait(inUse(after) - inUse(before)).toFixed(1)} KiB`,
    }),
    row({
      ...{ ...absolute, work: work('CPU of each in a second without answers'), unit: 'µs' },
      ...{ gatehouse: idle.cpuMicros, least: 50, goal: 25 },
      note: `asked again every ${IDLE_SECONDS} s`,
    }),
    row({
      ...{ ...absolute, work: work('busy connections to the database, median'), unit: '' },
      ...{ gatehouse: idle.busy, least: 1, goal: 0 },
    }),
  ];
}

/** @returns every request, with the token of the session that asked it */
async function askAll(url) {
  const tokens = [];
  while (tokens.length < WAITS / WAITS_OF_SESSION) {
    const signedUp = await Promise.all(Array.from({ length: AT_ONCE }, () => signUp(url)));
    tokens.push(...signedUp.map(({ token }) => token));
  }
  const waits = [];
  while (waits.length < WAITS) {
    waits.push(
      ...(await Promise.all(
        Array.from({ length: AT_ONCE }, (_none, index) =>
          ask(url, tokens[(waits.length + index) % tokens.length]),
        ),
      )),
    );
  }
  return waits;
}

async function ask(url, token) {
  const id = randomBytes(16).toString('base64url');
  const sealed = `1.${randomBytes(2000).toString('base64url')}`;
  await postJson(`${url}/v1/requests`, { id, sealed, expiresAt: Date.now() + 3_600_000 }, token);
  return { id, token };
}

async function idleUse(context, server) {
  const database = new Client({ connectionString: context.databaseUrl });
  await database.connect();
  const cpuBefore = cpuTimeMs(server.pid);
  const busy = [];
  for (let second = 0; second < IDLE_SECONDS; second += 1) {
    await sleep(1000);
    const { rows } = await database.query(
      `SELECT count(*)::int AS count FROM pg_stat_activity
       WHERE application_name = 'gatehouse' AND state <> 'idle'`,
    );
    busy.push(rows[0].count);
  }
  const cpuMs = cpuTimeMs(server.pid) - cpuBefore;
  await database.end();
  return { cpuMicros: (cpuMs * 1000) / WAITS / IDLE_SECONDS, busy: median(busy) };
}

async function memoryOf(server) {
  server.child.send('memory');
  return messageFrom(server);
}

function inUse({ heapUsed, external }) {
  return heapUsed + external;
}
