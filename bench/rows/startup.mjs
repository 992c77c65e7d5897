import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGatehouse } from '../gatehouse.mjs';
import { cpuTimeMs, peakBytes, residentBytes } from '../processes.mjs';
import { median, row } from '../report.mjs';

const name = 'startup';
const IDLE_AFTER_MS = 2_000;
const MIB = 1024 * 1024;

export const group = {
  name,
  run: async (context) => {
    const external = await startSeveralTimes(context, () => ({}));
    const first = await startSeveralTimes(context, (round) => embedded(context, `first-${round}`));
    const again = await startSeveralTimes(context, () => embedded(context, 'first-0'));
    return [
      readyRow('external, migrated database', external, 500),
      memoryRow('idle memory (RSS), external database', external, 'idleMiB', 110),
      readyRow('embedded, data directory present', again, 1_000),
      memoryRow('idle memory (RSS), embedded database', again, 'idleMiB', 250),
      readyRow('embedded, the very first', first, 1_500),
      memoryRow('most memory (RSS) of the very first start, embedded', first, 'peakMiB', 500),
    ];
  },
};

function embedded(context, folder) {
  return {
    DATABASE_URL: undefined,
    SERVICE_MASTER_SECRET: undefined,
    SERVICE_DATA_DIR: join(context.directory, folder),
  };
}

/** Not pinned to one CPU: starting is what an operator waits for, on all the machine has. */
async function startSeveralTimes(context, envOf) {
  const starts = [];
  for (let round = 0; round < context.rounds; round += 1) {
    const gatehouse = await startGatehouse(context, { env: envOf(round), isPinned: false });
    const cpuMs = cpuTimeMs(gatehouse.pid);
    await sleep(IDLE_AFTER_MS);
    const idleMiB = residentBytes(gatehouse.pid) / MIB;
    const peakMiB = peakBytes(gatehouse.pid) / MIB;
    starts.push({ readyAfterMs: gatehouse.readyAfterMs, cpuMs, idleMiB, peakMiB });
    await gatehouse.stop();
  }
  return starts;
}

function readyRow(how, starts, least) {
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
  });
}

function memoryRow(work, starts, field, least) {
  return row({
    name,
    work,
    unit: 'MiB',
    limit: null,
    gatehouse: medianOf(starts, field),
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
