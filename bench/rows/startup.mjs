import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGatehouse } from '../gatehouse.mjs';
import { cpuTimeMs, residentBytes } from '../processes.mjs';
import { median, row } from '../report.mjs';

const name = 'startup';
const IDLE_AFTER_MS = 2_000;
const MIB = 1024 * 1024;

export const group = {
  name,
  run: async (context) => {
    const external = await startSeveralTimes(context, {});
    const embeddedEnv = {
      DATABASE_URL: undefined,
      SERVICE_MASTER_SECRET: undefined,
      SERVICE_DATA_DIR: join(context.directory, 'embedded'),
    };
    const [first] = await startSeveralTimes({ ...context, rounds: 1 }, embeddedEnv);
    const embedded = await startSeveralTimes(context, embeddedEnv);
    return [
      readyRow('external, migrated database', external, 1_500),
      idleRow('external database', external, 160),
      readyRow('embedded, data directory present', embedded, 3_000, {
        note: `${cpuNote(embedded)}; the very first start, which makes the data directory, ${first.readyAfterMs.toFixed(0)} ms; idle ${medianOf(embedded, 'idleMiB').toFixed(0)} MiB`,
      }),
    ];
  },
};

/** Not pinned to one CPU: starting is what an operator waits for, on all the machine has. */
async function startSeveralTimes(context, env) {
  const starts = [];
  for (let round = 0; round < context.rounds; round += 1) {
    const gatehouse = await startGatehouse(context, { env, isPinned: false });
    const cpuMs = cpuTimeMs(gatehouse.pid);
    await sleep(IDLE_AFTER_MS);
    const idleMiB = residentBytes(gatehouse.pid) / MIB;
    starts.push({ readyAfterMs: gatehouse.readyAfterMs, cpuMs, idleMiB });
    await gatehouse.stop();
  }
  return starts;
}

function readyRow(how, starts, least, extra = {}) {
  return row({
    name,
    work: `start to \`/readyz\` 200, ${how}`,
    unit: 'ms',
    limit: null,
    gatehouse: medianOf(starts, 'readyAfterMs'),
    bar: 'at most',
    least,
    goal: null,
    note: cpuNote(starts),
    rounds: starts,
    ...extra,
  });
}

function idleRow(how, starts, least) {
  return row({
    name,
    work: `idle memory (RSS), ${how}`,
    unit: 'MiB',
    limit: null,
    gatehouse: medianOf(starts, 'idleMiB'),
    bar: 'at most',
    least,
    goal: null,
  });
}

/** Says whether a slow start was work or a crowded machine. */
function cpuNote(starts) {
  return `${medianOf(starts, 'cpuMs').toFixed(0)} ms of CPU`;
}

function medianOf(starts, field) {
  return median(starts.map((start) => start[field]));
}
