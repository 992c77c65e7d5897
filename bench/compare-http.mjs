import { startGatehouse } from './gatehouse.mjs';
import { ask, cpuTimeMs, crowdedOutMs, startLimit, startLoad } from './processes.mjs';
import { inTurn, medianOf, ratioRow } from './report.mjs';

const WARM_UP_SECONDS = 2;
const CONNECTIONS = 50;
/** Below this share of its CPU the server was not what limited the figure, and the note says so. */
const BUSY_ENOUGH = 0.9;

/**
 * Requests a second of Gatehouse against a limit that does the same work, in alternating rounds.
 *
 * @param {object} context
 * @param {{work: string, least: number, goal: number, limitFile?: string, env?: Record<string, string>,
 *   startReference?: () => Promise<{url: string}>,
 *   prepare: (url: string) => Promise<{limitInput?: object, requests: object[]}>}} how
 *   `startReference` starts what stands in for the limit where that is no file of `limit/`;
 *   `prepare` makes the data on Gatehouse, and says what the limit serves and what both are asked
 */
export async function compareHttp(context, how) {
  const { limitFile, env, startReference, prepare, ...about } = how;
  const gatehouse = await startGatehouse(context, { env });
  const { limitInput, requests } = await prepare(gatehouse.url);
  const limit = await (startReference?.() ?? startLimit(context, limitFile, limitInput));
  await assertSameAnswer(limit, gatehouse, requests[0]);
  const sides = [limit, gatehouse].map((server) => ({ server, requests }));
  const compared = await compareRequests(context, sides, about);
  await Promise.all([limit.stop(), gatehouse.stop()]);
  return compared;
}

/** @param {{server: object, requests: object[]}[]} sides the limit and Gatehouse */
export async function compareRequests(context, [limit, gatehouse], { note, ...about }) {
  const measure = ({ server, requests }, seconds) => load(context, server, requests, seconds);
  await measure(limit, WARM_UP_SECONDS);
  await measure(gatehouse, WARM_UP_SECONDS);
  const { rounds: count, seconds } = context;
  const rounds = await inTurn(
    count,
    () => measure(limit, seconds),
    () => measure(gatehouse, seconds),
  );
  const notes = [note, ...notesOn(rounds)].filter((text) => text !== undefined).join('; ');
  return ratioRow({ ...about, unit: '/s', rounds, field: 'perSecond', note: notes });
}

/** Sends the requests one after another on {@link CONNECTIONS} connections, each as soon as the one before is answered. */
export async function load(context, server, requests, seconds) {
  const generator = startLoad(context, 'http-load.mjs');
  await ask(generator, { url: server.url, connections: CONNECTIONS, seconds, requests });
  const before = [cpuTimeMs(server.pid), crowdedOutMs(server.pid)];
  const startedAt = performance.now();
  const result = await ask(generator, 'result', (seconds + 20) * 1000);
  const cpuMs = cpuTimeMs(server.pid) - before[0];
  const crowdedMs = crowdedOutMs(server.pid) - before[1];
  const elapsedMs = performance.now() - startedAt;
  await generator.stop();
  if (result.failed > 0) {
    const { failed, refused } = result;
    throw new Error(`${failed} requests failed, ${refused} of them by 503:\n${server.log()}`);
  }
  return {
    answered: result.answered,
    perSecond: result.answered / result.seconds,
    p99Ms: result.p99Ms,
    busy: cpuMs / elapsedMs,
    crowdedOut: crowdedMs / elapsedMs,
    cpuMicrosPerRequest: (cpuMs * 1000) / result.answered,
  };
}

/** The limit only counts when it sends what Gatehouse sends: status, type and JSON shape. */
async function assertSameAnswer(limit, gatehouse, { path, method = 'GET', headers, body }) {
  const [ours, theirs] = await Promise.all(
    [gatehouse, limit].map(async (server) => {
      const response = await fetch(`${server.url}${path}`, { method, headers, body });
      const type = response.headers.get('content-type');
      return JSON.stringify([response.status, type, shapeOf(await response.json())]);
    }),
  );
  if (!ours.startsWith('[200,') || ours !== theirs) {
    throw new Error(
      `The limit does not do the same work on ${path}:\nGatehouse ${ours}\nlimit ${theirs}`,
    );
  }
}

function shapeOf(value) {
  if (Array.isArray(value)) {
    return value.map(shapeOf);
  }
  if (value === null || typeof value !== 'object') {
    return typeof value;
  }
  const entries = Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function notesOn({ limit, gatehouse }) {
  const [before, after] = [limit, gatehouse].map((rounds) =>
    medianOf(rounds, 'cpuMicrosPerRequest').toFixed(0),
  );
  const percent = (rounds, field) => (medianOf(rounds, field) * 100).toFixed(0);
  const busy = Object.entries({ limit, Gatehouse: gatehouse })
    .filter(([, rounds]) => medianOf(rounds, 'busy') < BUSY_ENOUGH)
    .map(
      ([side, rounds]) =>
        `${side} ${percent(rounds, 'busy')} % busy, ${percent(rounds, 'crowdedOut')} % crowded out by other processes`,
    );
  return [`CPU a request ${before} → ${after} µs`, ...busy];
}
