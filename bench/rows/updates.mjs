import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp } from '../client.mjs';
import { startLimit } from '../compare-http.mjs';
import { startGatehouse } from '../gatehouse.mjs';
import { CPU_OF, cpuTimeMs, messageFrom, startNode } from '../processes.mjs';
import { median, row } from '../report.mjs';

const name = 'updates';
const ACCOUNTS = 20;
const SOCKETS = 1000;
/** Open before memory is first read, so that what is allocated once is not divided by sockets. */
const STANDING_SOCKETS = 500;
/** Batches whose connect rate is taken, each of a process that is a little warmer. */
const BATCHES = 3;
const SETTLE_MS = 500;

const PROBE = ['--expose-gc', '--import', join(import.meta.dirname, '../process-probe.mjs')];

export const group = {
  name,
  run: async (context) => {
    const tokens = await signUpAll(context);
    const rounds = { limit: [], gatehouse: [] };
    for (let round = 0; round < context.rounds; round += 1) {
      const limit = await startLimit(context, 'updates.mjs', {}, PROBE);
      rounds.limit.push(await measure(context, limit, tokens));
      const gatehouse = await startGatehouse(context, { nodeArgs: PROBE });
      rounds.gatehouse.push(await measure(context, gatehouse, tokens));
    }
    const medians = (field) => ({
      limit: median(rounds.limit.map((round) => round[field])),
      gatehouse: median(rounds.gatehouse.map((round) => round[field])),
    });
    return [
      row({
        name,
        work: `${SOCKETS} sockets at \`/v1/updates\`: connect rate`,
        unit: '/s',
        ...medians('perSecond'),
        bar: 'at least',
        least: 0.7,
        goal: 0.9,
        note: cpuNote(medians('cpuMicros')),
        rounds,
      }),
      memoryRow('resident memory a connection', medians('residentKiB')),
      memoryRow('heap and buffers a connection', medians('heapKiB')),
    ];
  },
};

/** Hardly depends on what else the machine does, as in the note of a request row. */
function cpuNote({ limit, gatehouse }) {
  return `CPU a connection ${limit.toFixed(0)} → ${gatehouse.toFixed(0)} µs`;
}

/** Resident memory alone would favour a server whose heap had free space before. */
function memoryRow(what, medians) {
  const work = `${SOCKETS} sockets at \`/v1/updates\`: ${what}`;
  return row({ name, work, unit: 'KiB', ...medians, bar: 'at most', least: 1.5, goal: 1.2 });
}

async function signUpAll(context) {
  const gatehouse = await startGatehouse(context);
  const accounts = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    accounts.push(await signUp(gatehouse.url));
  }
  await gatehouse.stop();
  return accounts.map(({ token }) => token);
}

/** Memory first, on a process that has served few: a heap grown by earlier batches hides it. */
async function measure(context, server, tokens) {
  const clients = startNode({
    file: join(import.meta.dirname, '../load/socket-load.mjs'),
    cpu: CPU_OF.load,
    directory: context.directory,
  });
  const connect = async (count) => {
    const cpuBefore = cpuTimeMs(server.pid);
    clients.child.send({ port: server.port, count, tokens });
    const { seconds } = await messageFrom(clients);
    const cpuMs = cpuTimeMs(server.pid) - cpuBefore;
    return { perSecond: count / seconds, cpuMicros: (cpuMs * 1000) / count };
  };
  const close = async () => {
    clients.child.send('close');
    await messageFrom(clients);
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
    perSecond: median(batches.map(({ perSecond }) => perSecond)),
    cpuMicros: median(batches.map(({ cpuMicros }) => cpuMicros)),
    residentKiB: (after.rss - before.rss) / SOCKETS / 1024,
    heapKiB: (inUse(after) - inUse(before)) / SOCKETS / 1024,
  };
}

async function memoryOf(server) {
  server.child.send('memory');
  return messageFrom(server);
}

function inUse({ heapUsed, external }) {
  return heapUsed + external;
}
