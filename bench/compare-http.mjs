import { join } from 'node:path';
import { startGatehouse } from './gatehouse.mjs';
import { CPU_OF, cpuTimeMs, crowdedOutMs, messageFrom, startNode } from './processes.mjs';
import { median, row } from './report.mjs';

const WARM_UP_SECONDS = 2;
const CONNECTIONS = 50;
/** Below this share of its CPU the server was not what limited the figure, and the note says so. */
const BUSY_ENOUGH = 0.9;

/**
 * Requests a second of Gatehouse against a limit that does the same work, in alternating rounds.
 *
 * @param {object} context
 * @param {{name: string, work: string, limitFile?: string, least: number, goal: number,
 *   env?: Record<string, string>, startReference?: () => Promise<{url: string}>,
 *   prepare: (gatehouse: {url: string}) => Promise<{limitInput: object, requests: object[]}>}} work
 *   `startReference` starts what stands in for the limit where that is no file of `limit/`;
 *   `prepare` makes the data on Gatehouse, and says what the limit serves and what both are asked
 */
export async function compareHttp(context, work) {
  const gatehouse = await startGatehouse(context, { env: work.env });
  const { limitInput, requests } = await work.prepare(gatehouse);
  const limit = await (work.startReference?.() ?? startLimit(context, work.limitFile, limitInput));
  await assertSameAnswer(limit, gatehouse, requests[0]);

  await load(context, limit, requests, WARM_UP_SECONDS);
  await load(context, gatehouse, requests, WARM_UP_SECONDS);
  const rounds = { limit: [], gatehouse: [] };
  for (let round = 0; round < context.rounds; round += 1) {
    rounds.limit.push(await load(context, limit, requests, context.seconds));
    rounds.gatehouse.push(await load(context, gatehouse, requests, context.seconds));
  }
  await Promise.all([limit.stop(), gatehouse.stop()]);
  return row({
    name: work.name,
    work: work.work,
    unit: '/s',
    limit: of(rounds.limit, 'perSecond'),
    gatehouse: of(rounds.gatehouse, 'perSecond'),
    bar: 'at least',
    least: work.least,
    goal: work.goal,
    note: noteOn(rounds),
    rounds,
  });
}

/** A limit server of `limit/` in its own process; it says its port when it listens. */
export async function startLimit(context, file, input, nodeArgs = []) {
  const started = startNode({
    file: join(import.meta.dirname, 'limit', file),
    args: [JSON.stringify(input)],
    nodeArgs,
    cpu: CPU_OF.server,
    directory: context.directory,
  });
  const { port, ...rest } = await messageFrom(started);
  return { ...started, ...rest, port, url: `http://127.0.0.1:${port}` };
}

export async function load(context, server, requests, seconds) {
  const generator = startNode({
    file: join(import.meta.dirname, 'load/http-load.mjs'),
    cpu: CPU_OF.load,
    directory: context.directory,
  });
  generator.child.send({ url: server.url, connections: CONNECTIONS, seconds, requests });
  await messageFrom(generator);
  const cpuBefore = cpuTimeMs(server.pid);
  const crowdedBefore = crowdedOutMs(server.pid);
  const startedAt = performance.now();
  const result = await messageFrom(generator, (seconds + 20) * 1000);
  const cpuMs = cpuTimeMs(server.pid) - cpuBefore;
  const crowdedMs = crowdedOutMs(server.pid) - crowdedBefore;
  const elapsedMs = performance.now() - startedAt;
  await generator.stop();
  if (result.failed > 0) {
    throw new Error(`${result.failed} requests failed:\n${server.log()}`);
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
      return {
        status: response.status,
        type: response.headers.get('content-type'),
        shape: shapeOf(await response.json()),
      };
    }),
  );
  if (ours.status !== 200 || JSON.stringify(ours) !== JSON.stringify(theirs)) {
    throw new Error(
      `The limit does not do the same work on ${path}:\nGatehouse ${JSON.stringify(ours)}\nlimit ${JSON.stringify(theirs)}`,
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

export function of(rounds, field) {
  return median(rounds.map((round) => round[field]));
}

export function noteOn({ limit, gatehouse }) {
  const cost = `CPU a request ${of(limit, 'cpuMicrosPerRequest').toFixed(0)} → ${of(gatehouse, 'cpuMicrosPerRequest').toFixed(0)} µs`;
  const percent = (rounds, field) => (of(rounds, field) * 100).toFixed(0);
  const busy = Object.entries({ limit, Gatehouse: gatehouse })
    .filter(([, rounds]) => of(rounds, 'busy') < BUSY_ENOUGH)
    .map(
      ([side, rounds]) =>
        `${side} ${percent(rounds, 'busy')} % busy, ${percent(rounds, 'crowdedOut')} % crowded out by other processes`,
    );
  return [cost, ...busy].join('; ');
}
