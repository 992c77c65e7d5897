import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '../../test/fixtures/seeded-random.js';
import { revocationBounds } from '../../src/core/policy/admission/revocation.js';
import { findFaults, line } from './check.js';
import { Clients, nowMs } from './clients.js';
import { CACHE_SECONDS, Replicas } from './replicas.js';

const COUNT = Number(process.env['GATEHOUSE_PROOF_HISTORIES'] ?? 1);
const SEED = Number(process.env['GATEHOUSE_PROOF_SEED'] ?? 1);
/** Only ends what hangs: one takes 20 seconds. */
const LIMIT_MS = 1_200_000 + COUNT * 60_000;
const ACCOUNTS = 3;
const CLIENTS = 8;
/** As in `stepped-clock.mjs`. */
const CLOCK_STEP_MS = 20_000;
/** Longer than the bounds. */
const LONGEST_FAULT_MS = 4000;
const QUIET_MS = 500;
/** Time for acts, on a busy machine too, that the last kill of the database could lose. */
const LAST_QUIET_MS = 3000;

const BOUNDS = {
  requestMs: CACHE_SECONDS * 1000,
  connectionMs: revocationBounds(CACHE_SECONDS * 1000).replicaSeconds * 1000,
  clockMs: CLOCK_STEP_MS,
};

describe('histories under faults', () => {
  const test = async (): Promise<void> => {
    for (const [index, replicas] of [2, 4].entries()) {
      // Half of them at each number, and the only one at two.
      const histories = Math.floor((COUNT + 1 - index) / 2);
      if (histories > 0) {
        await playAll(replicas, histories, SEED + index * COUNT);
      }
    }
  };
  it('admits, refuses and stores as one order of the acts explains', test, LIMIT_MS);
});

async function playAll(count: number, histories: number, firstSeed: number): Promise<void> {
  const replicas = await Replicas.start(count);
  try {
    for (let seed = firstSeed; seed < firstSeed + histories; seed += 1) {
      const clients = await play(replicas, seed);
      const startedAt = nowMs();
      const faults = findFaults(clients.history, BOUNDS);
      const { length } = clients.history;
      const took = `checked in ${Math.round(nowMs() - startedAt)} ms`;
      process.stderr.write(`${count} replicas, seed ${seed}: ${length} entries, ${took}\n`);
      if (faults.length > 0) {
        throw new Error(`${keep(clients)} is wrong:\n${faults.join('\n')}`);
      }
    }
  } finally {
    await replicas.stop();
  }
}

async function play(replicas: Replicas, seed: number): Promise<Clients> {
  const clients = new Clients(replicas);
  for (let index = 0; index < ACCOUNTS; index += 1) {
    await clients.addAccount();
  }
  const [ofFaults, ...ofClients] = Array.from(
    { length: CLIENTS + 1 },
    (_, own) => new SeededRandom(seed * 100 + own),
  );
  const end = new AbortController();
  await Promise.all([
    ...ofClients.map((random) => clients.run(random, end.signal)),
    runFaults(replicas, clients, ofFaults!).finally(() => end.abort()),
  ]);
  await sleep(BOUNDS.connectionMs);
  await clients.compareAll();
  return clients;
}

/** One fault of each kind after another, in any order; then the database is killed again. */
async function runFaults(
  replicas: Replicas,
  clients: Clients,
  random: SeededRandom,
): Promise<void> {
  const left = Object.keys(replicas.faults);
  while (left.length > 0) {
    const [kind = ''] = left.splice(random.below(left.length), 1);
    await runFault(kind);
  }
  await runFault('database-killed', LAST_QUIET_MS);

  async function runFault(kind: string, quietMs = QUIET_MS): Promise<void> {
    await sleep(quietMs + random.below(QUIET_MS));
    const replica = replicas.all[random.below(replicas.all.length)]!;
    await clients.fail(kind, replica, random.below(LONGEST_FAULT_MS));
  }
}

/** @returns the path of the file */
function keep({ history }: Clients): string {
  const path = join(mkdtempSync(join(tmpdir(), 'gatehouse-history-')), 'history.jsonl');
  writeFileSync(path, history.map((one) => `${line(one)}\n`).join(''));
  return path;
}
