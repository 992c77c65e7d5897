import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp } from '../client.mjs';
import { importGuard, quantile, startWithBackend } from '../guarded-backend.mjs';
import { query } from '../postgres.mjs';
import { messageFrom, peakBytes } from '../processes.mjs';
import { row } from '../report.mjs';

const name = 'revocations';
const PER_SECOND = 10_000 / 60;
/** A round of the other rows is 3 s: this one lasts a minute then. */
const SECONDS_EACH = 20;
const ACCOUNTS = 200;
const STREAMS = 3;
/** Time of the last events to arrive, before they count as lost. */
const GRACE_MS = 30_000;
const MEBIBYTE = 1024 * 1024;
const PROBE = ['--expose-gc', '--import', join(import.meta.dirname, '../process-probe.mjs')];

const FILL = `
  WITH added AS (
    INSERT INTO session
      (id, account_id, token_epoch, created_at, last_seen_at, expires_at, method)
    SELECT one.id, account.id, account.token_epoch, now(), now(), now() + interval '1 hour', 'key_challenge'
    FROM unnest($1::uuid[], $2::uuid[]) AS one (id, account_id)
    JOIN account ON account.id = one.account_id
    RETURNING id, account_id, expires_at)
  INSERT INTO resource_session (id, session_id, account_id, resource_server, expires_at)
  SELECT gen_random_uuid(), id, account_id, 'relay', expires_at FROM added
  RETURNING id AS sid, session_id AS "sessionId", account_id AS "accountId"`;

/** An operator ends sessions at a steady rate, and three instances of a backend receive each end. */
export const group = {
  name,
  run: async (context) => {
    const backend = await startWithBackend(context, PROBE);
    const { gatehouse, guardOptions } = backend;
    const count = Math.round(PER_SECOND * SECONDS_EACH * context.seconds);
    const sessions = await fillSessions(context, gatehouse.url, count);
    const { createGuard } = await importGuard(context, 'index');
    const guards = Array.from({ length: STREAMS }, () =>
      createGuard({ ...guardOptions, log: () => undefined }),
    );
    const arrivals = arrivalsAt(guards);
    await Promise.all(guards.map((guard) => guard.ready()));
    const before = await memoryOf(gatehouse);
    const { endedAt, refusals } = await endAll(backend, sessions);
    await untilAll(arrivals, sessions, gatehouse);
    const after = await memoryOf(gatehouse);
    await Promise.all(guards.map((guard) => guard.close()));
    const peak = peakBytes(gatehouse.pid) / MEBIBYTE;
    await gatehouse.stop();
    const times = sessions.map(
      ({ sid }) => Math.max(...arrivals.map((seen) => seen.get(sid))) - endedAt.get(sid),
    );
    const work = `${count} sessions ended at ${PER_SECOND.toFixed(0)} a second, ${STREAMS} streams`;
    const note = `none of ${count * STREAMS} events lost, ${refusals} acts answered 503 first, median ${quantile(times, 0.5).toFixed(0)} ms`;
    return [
      row({
        ...{ name, work: `${work}: until the last stream has it, p99`, unit: 'ms', limit: null },
        ...{ gatehouse: quantile(times, 0.99), bar: 'at most', least: 1000, goal: 250, note },
      }),
      row({
        ...{ name, work: `${work}: heap and buffers that stay`, unit: 'MiB', limit: null },
        ...{ gatehouse: (after - before) / MEBIBYTE, bar: 'at most', least: 64, goal: 32 },
        note: `the process had ${peak.toFixed(0)} MiB at most`,
      }),
    ];
  },
};

async function fillSessions({ databaseUrl }, url, count) {
  const accounts = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    accounts.push((await signUp(url)).accountId);
  }
  const ids = Array.from({ length: count }, () => randomUUID());
  return query(databaseUrl, FILL, [ids, ids.map((_id, index) => accounts[index % ACCOUNTS])]);
}

/** The time at which each guard learned of each session. */
function arrivalsAt(guards) {
  return guards.map((guard) => {
    const seen = new Map();
    guard.watch(({ sid }) => sid !== null && seen.set(sid, performance.now()));
    return seen;
  });
}

/** Starts each act at its time, whether or not the one before is answered. */
async function endAll({ endSession }, sessions) {
  const endedAt = new Map();
  const begun = performance.now();
  const acts = [];
  for (const [index, { sid, sessionId, accountId }] of sessions.entries()) {
    const early = begun + (index * 1000) / PER_SECOND - performance.now();
    if (early > 1) {
      await sleep(early);
    }
    endedAt.set(sid, performance.now());
    acts.push(endSession(accountId, sessionId));
  }
  const refusals = (await Promise.all(acts)).reduce((sum, count) => sum + count, 0);
  return { endedAt, refusals };
}

/** @throws when an event does not arrive */
async function untilAll(arrivals, sessions, { log }) {
  const deadline = performance.now() + GRACE_MS;
  const missing = () => arrivals.map((seen) => sessions.filter(({ sid }) => !seen.has(sid)).length);
  while (missing().some((lost) => lost > 0)) {
    if (performance.now() > deadline) {
      throw new Error(`Events are lost, by stream: ${missing().join(', ')}\n${log()}`);
    }
    await sleep(50);
  }
}

async function memoryOf(server) {
  server.child.send('memory');
  const { heapUsed, external } = await messageFrom(server);
  return heapUsed + external;
}
