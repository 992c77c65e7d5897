import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { WebSocket } from 'ws';
import {
  BACKEND,
  describeBackend,
  importGuard,
  startRelay,
  startWithBackend,
  timeLeavers,
} from '../backend.mjs';
import { bearer, formOf, signUp, signUpAll } from '../client.mjs';
import { compareHttp, compareRequests } from '../compare-http.mjs';
import { backendToken, basic, exchangeForm, runSql } from '../fixtures.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { memoryOf, peakBytes, PROBE } from '../processes.mjs';
import { inTurn, median, p99Row, quantile, ratioRow, row } from '../report.mjs';
import { databaseOf, listsOf, loginsAt, REPEATABLE, startUsed } from './http.mjs';

const ACCOUNTS = 20;
const ISSUER = 'https://gate.example';
const MEBIBYTE = 1024 * 1024;

/** Backends: their tokens, their questions about them, and what they learn of sessions that end. */
export const groups = {
  'resource-servers': async (context) => {
    const { env, secret } = describeBackend();
    const configured = { ...env, SERVICE_PUBLIC_URL: ISSUER };
    return [
      await exchange(context, configured),
      await login(context, configured),
      ...(await questions(context, configured, secret)),
    ];
  },
  guard: async (context) => [await verification(context), await leavers(context)],
  revocations,
};

function exchange(context, env) {
  return compareHttp(context, {
    work: '`POST /v1/oauth/token`, a token for a backend',
    limitFile: 'exchange.mjs',
    env,
    least: 0.4,
    goal: 0.6,
    prepare: async (url) => {
      const accounts = (await signUpAll(url, ACCOUNTS)).map(({ token, accountId }) => ({
        token,
        accountId,
      }));
      return {
        limitInput: databaseOf(context, { issuer: ISSUER, accounts }),
        requests: accounts.map(({ token }) => formOf(exchangeForm(token, BACKEND))),
      };
    },
  });
}

/** Both servers have the same database, so that their tables are equally large. */
function login(context, env) {
  return compareHttp(context, {
    work: '`POST /v1/auth`, known key, with a backend; the limit is Gatehouse without',
    env: { ...REPEATABLE, ...env },
    startReference: () => startUsed(context, REPEATABLE, loginsAt),
    least: 0.95,
    goal: 0.99,
    prepare: async (url) => ({ requests: (await loginsAt(url)).requests }),
  });
}

/** Compares a backend's questions about tokens, all cached, with the token list of the same server. */
async function questions(context, env, secret) {
  const server = await startGatehouse(context, { env });
  const accounts = await signUpAll(server.url, ACCOUNTS);
  const tokens = await Promise.all(
    accounts.map(({ token }) => backendToken(server, token, BACKEND)),
  );
  const lists = { server, requests: listsOf(accounts) };
  const compare = (work, least, requestOf) =>
    compareRequests(context, [lists, { server, requests: tokens.map(requestOf) }], {
      work: `${work}, warm; the limit is the token list`,
      least,
      goal: 1,
    });
  const rows = [
    await compare('`GET /v1/oauth/forward-auth/relay`', 0.85, (token) => ({
      path: `/v1/oauth/forward-auth/${BACKEND}/channel`,
      headers: bearer(token),
    })),
    await compare('`POST /v1/oauth/introspect`', 0.6, (token) =>
      formOf({ token }, '/v1/oauth/introspect', basic(BACKEND, secret)),
    ),
  ];
  await server.stop();
  return rows;
}

const TOKENS = 100;
const CONCURRENCY = 20;

/** The guard and jose verify the same tokens in this process, in turn. */
async function verification(context) {
  const { createGuard } = await importGuard(context, 'index');
  const { startTestIssuer } = await importGuard(context, 'testing');
  const issuer = await startTestIssuer();
  const guard = createGuard({ ...issuer.guardOptions, log: () => undefined });
  await guard.ready();
  const tokens = await Promise.all(Array.from({ length: TOKENS }, () => issuer.token()));
  const bare = await bareVerification(issuer.guardOptions);
  const sides = [bare, (token) => guard.verify(token)].map(
    (verify) => () => perSecond(verify, tokens, context.seconds),
  );
  await inTurn(1, ...sides);
  const rounds = await inTurn(context.rounds, ...sides);
  await guard.close();
  await issuer.close();
  const work = '`guard.verify`; the limit is jose with the same keys';
  return ratioRow({ work, unit: '/s', rounds, least: 0.9, goal: 0.95 });
}

async function bareVerification({ issuer, resource }) {
  const read = async (url) => (await fetch(url)).json();
  const { jwks_uri: url } = await read(`${issuer}/.well-known/oauth-authorization-server`);
  const keys = createLocalJWKSet(await read(url));
  const expected = { issuer, audience: resource, typ: 'at+jwt', algorithms: ['ES256'] };
  return (token) => jwtVerify(token, keys, expected);
}

async function perSecond(verify, tokens, seconds) {
  const end = performance.now() + seconds * 1000;
  let done = 0;
  const work = async () => {
    while (performance.now() < end) {
      await verify(tokens[done % tokens.length]);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return done / seconds;
}

const RELAYS = 3;
const PEOPLE = 50;
const SOCKETS = 1000;

/** An operator disables one person after the other: each has sockets at every relay. */
async function leavers(context) {
  const { gatehouse, guardOptions, disable } = await startWithBackend(context);
  const relays = await Promise.all(Array.from({ length: RELAYS }, () => startRelay(guardOptions)));
  const people = await signUpAll(gatehouse.url, PEOPLE, async (url) => {
    const { accountId, token } = await signUp(url);
    return { accountId, token: await backendToken({ url }, token, BACKEND) };
  });
  const sockets = await Promise.all(
    people.map(({ token }, index) =>
      Promise.all(
        Array.from({ length: SOCKETS / PEOPLE }, (_, at) =>
          openSocket(relays[(index + at) % RELAYS], token),
        ),
      ),
    ),
  );
  const times = await timeLeavers(people, sockets, disable);
  relays.forEach((relay) => relay.kill('SIGTERM'));
  await gatehouse.stop();
  return p99Row({
    work: `a person is disabled, until the last of ${SOCKETS / PEOPLE} sockets of ${SOCKETS} at ${RELAYS} relays is closed, p99`,
    times,
    least: 250,
    goal: 100,
  });
}

async function openSocket(relay, token) {
  const socket = await relay.open(token);
  return { closed: once(socket, 'close'), isOpen: () => socket.readyState === WebSocket.OPEN };
}

const PER_SECOND = 10_000 / 60;
/** A round of the other rows is 3 s: this one lasts a minute then. */
const SECONDS_EACH = 20;
const ENDED_ACCOUNTS = 200;
const STREAMS = 3;
/** Time of the last events to arrive, before they count as lost. */
const GRACE_MS = 30_000;

const FILL = `
  WITH added AS (
    INSERT INTO session
      (id, account_id, token_epoch, created_at, last_seen_at, expires_at, method)
    SELECT one.id, account.id, account.token_epoch, now(), now(), now() + interval '1 hour', 'key_challenge'
    FROM unnest($1::uuid[], $2::uuid[]) AS one (id, account_id)
    JOIN account ON account.id = one.account_id
    RETURNING id, account_id, expires_at)
  INSERT INTO resource_session (id, session_id, account_id, resource_server, expires_at)
  SELECT gen_random_uuid(), id, account_id, '${BACKEND}', expires_at FROM added
  RETURNING id AS sid, session_id AS "sessionId", account_id AS "accountId"`;

/** An operator ends sessions at a steady rate, and three instances of a backend receive each end. */
async function revocations(context) {
  const backend = await startWithBackend(context, { nodeArgs: PROBE });
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
  const kept = (await memoryOf(gatehouse)).inUse - before.inUse;
  await Promise.all(guards.map((guard) => guard.close()));
  const peak = peakBytes(gatehouse.pid) / MEBIBYTE;
  await gatehouse.stop();
  const times = sessions.map(
    ({ sid }) => Math.max(...arrivals.map((seen) => seen.get(sid))) - endedAt.get(sid),
  );
  return revocationRows(times, refusals, kept / MEBIBYTE, peak);
}

function revocationRows(times, refusals, gatehouse, peak) {
  const work = `${times.length} sessions ended at ${PER_SECOND.toFixed(0)} a second, ${STREAMS} streams`;
  return [
    row({
      work: `${work}: until the last stream has it, p99`,
      unit: 'ms',
      gatehouse: quantile(times, 0.99),
      least: 1000,
      goal: 250,
      note: `none of ${times.length * STREAMS} events lost, ${refusals} acts answered 503 first, median ${median(times).toFixed(0)} ms`,
    }),
    row({
      work: `${work}: heap and buffers that stay`,
      unit: 'MiB',
      gatehouse,
      least: 64,
      goal: 32,
      note: `the process had ${peak.toFixed(0)} MiB at most`,
    }),
  ];
}

async function fillSessions({ databaseUrl }, url, count) {
  const accounts = await signUpAll(url, ENDED_ACCOUNTS);
  const ids = Array.from({ length: count }, () => randomUUID());
  const owners = ids.map((_id, index) => accounts[index % ENDED_ACCOUNTS].accountId);
  return runSql(databaseUrl, FILL, [ids, owners]);
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
    const act = endSession(accountId, sessionId);
    // It fails below, and not as an unhandled rejection that ends the whole run.
    act.catch(() => undefined);
    acts.push(act);
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
