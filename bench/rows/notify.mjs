import { join } from 'node:path';
import { CPU_OF, cpuTimeMs, messageFrom, residentBytes, startNode } from '../processes.mjs';
import { median, row } from '../report.mjs';

const name = 'notify';
const WEBHOOKS = 200;
const WARM_UP_SECONDS = 1;
const MIB = 1024 * 1024;
/** Deliveries before memory is looked at for the first time, and up to the second. */
const SETTLED = 40_000;
const MORE = 100_000;

export const group = {
  name,
  run: async (context) => {
    const receiver = start(context, 'load/webhook-receiver.mjs', {}, CPU_OF.load);
    const { port } = await messageFrom(receiver);
    const urls = Array.from({ length: WEBHOOKS }, (_, at) => `http://127.0.0.1:${port}/${at}`);
    const input = { urls, dist: context.dist };
    const limit = await ready(start(context, 'limit/webhooks.mjs', input, CPU_OF.server));
    const library = await ready(start(context, 'load/webhook-fan-out.mjs', input, CPU_OF.server));
    const rows = [await fanOutRow(context, limit, library), await memoryRow(library)];
    await Promise.all([receiver, limit, library].map((process) => process.stop()));
    return rows;
  },
};

async function fanOutRow(context, limit, library) {
  await ask(limit, { seconds: WARM_UP_SECONDS });
  await ask(library, { seconds: WARM_UP_SECONDS });
  const rounds = { limit: [], gatehouse: [] };
  for (let round = 0; round < context.rounds; round += 1) {
    rounds.limit.push(await measure(limit, context));
    rounds.gatehouse.push(await measure(library, context));
  }
  return row({
    name,
    work: `one event to ${WEBHOOKS} webhooks, signed`,
    unit: '/s',
    limit: of(rounds.limit, 'perSecond'),
    gatehouse: of(rounds.gatehouse, 'perSecond'),
    bar: 'at least',
    least: 0.7,
    goal: 0.85,
    note: `CPU a delivery ${of(rounds.limit, 'cpuMicros').toFixed(0)} → ${of(rounds.gatehouse, 'cpuMicros').toFixed(0)} µs`,
    rounds,
  });
}

async function measure(process, { seconds }) {
  const cpuBefore = cpuTimeMs(process.pid);
  const { perSecond, posted } = await ask(process, { seconds });
  return { perSecond, cpuMicros: ((cpuTimeMs(process.pid) - cpuBefore) * 1000) / posted };
}

function of(rounds, field) {
  return median(rounds.map((round) => round[field]));
}

async function memoryRow(library) {
  await ask(library, { deliveries: SETTLED });
  const before = residentBytes(library.pid);
  await ask(library, { deliveries: MORE });
  const grown = (residentBytes(library.pid) - before) / MIB;
  return row({
    name,
    work: `memory that ${MORE.toLocaleString('en')} deliveries leave behind`,
    unit: 'MiB',
    limit: null,
    gatehouse: grown,
    bar: 'at most',
    least: 16,
    goal: null,
    note: `resident ${(before / MIB).toFixed(0)} MiB after the first ${SETTLED.toLocaleString('en')}`,
  });
}

function start({ directory }, file, input, cpu) {
  return startNode({
    file: join(import.meta.dirname, '..', file),
    args: [JSON.stringify(input)],
    nodeArgs: ['--expose-gc'],
    cpu,
    directory,
  });
}

async function ready(process) {
  await messageFrom(process);
  return process;
}

async function ask(process, { seconds, deliveries }) {
  process.child.send({ seconds, deliveries });
  return messageFrom(process, 120_000);
}
