import { spawnSync } from 'node:child_process';
import { SEARCHES, exploreInstance, INSTANCES } from './search/models.mjs';
import { quint } from './search/quint.mjs';

// `npm run prove`: explores the models, then replays traces and records histories of the built server.

const isNightly = process.argv.includes('--nightly');
const seed = process.env.GATEHOUSE_PROOF_SEED ?? String(Date.now());
const searches = isNightly
  ? Object.keys(SEARCHES)
  : ['slice', 'single', 'checks', 'vouched', 'guard', 'grant'];
const samples = isNightly ? 20_000 : 1000;
const traces = isNightly ? 1000 : 200;
const histories = isNightly ? 100 : 20;
const acts = 10_000;
/** A search of many minutes shows that it goes on. */
const SAY_EVERY_MS = 30_000;

console.log(`Seed ${seed} (GATEHOUSE_PROOF_SEED).`);
for (const name of searches) {
  explore(name);
}
sample();
replay();
recordHistories();
if (isNightly) {
  measureBound();
}

function explore(name) {
  const startedAt = performance.now();
  let said = startedAt;
  const { states, transitions, depth, isComplete, violation, model } = exploreInstance(
    name,
    (at, known) => {
      if (performance.now() - said > SAY_EVERY_MS) {
        said = performance.now();
        console.log(`${name}: ${known} states so far, ${at} steps deep, ${seconds(startedAt)} s`);
      }
    },
  );
  const counts = `${states} states, ${transitions} transitions, ${depth} steps deep`;
  const extent = isComplete ? 'all states' : 'no further';
  console.log(`${name}: ${counts} (${extent}), ${seconds(startedAt)} s`);
  if (violation !== null) {
    const names = model.variables.map((variable) => variable.name);
    for (const state of violation.path) {
      console.log(
        JSON.stringify(Object.fromEntries(names.map((one, index) => [one, state[index]]))),
      );
    }
    throw new Error(`${name}: ${violation.invariant} does not hold.`);
  }
}

/** Three replicas have too many states to explore. */
function sample() {
  const startedAt = performance.now();
  quint([
    ...['run', '--backend', 'typescript', '--main', 'everything', '--invariant', 'invariants'],
    ...['--max-samples', String(samples), '--max-steps', '40', '--seed', seed, INSTANCES],
  ]);
  console.log(`everything: ${samples} samples of 40 steps, ${seconds(startedAt)} s`);
}

function replay() {
  const startedAt = performance.now();
  runSpecs('proof/traces', { GATEHOUSE_PROOF_TRACES: String(traces) });
  console.log(`traces: ${traces} replayed, ${seconds(startedAt)} s`);
}

function recordHistories() {
  const startedAt = performance.now();
  runSpecs('proof/histories', { GATEHOUSE_PROOF_HISTORIES: String(histories) });
  console.log(`histories: ${histories} checked, ${seconds(startedAt)} s`);
}

function measureBound() {
  const startedAt = performance.now();
  runSpecs('proof/bound', { GATEHOUSE_PROOF_ACTS: String(acts) });
  console.log(`bound: ${acts} acts, ${seconds(startedAt)} s`);
}

function runSpecs(folder, env) {
  const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const project = folder === 'proof/bound' ? 'full' : 'nightly';
  const specs = ['node_modules/jest/bin/jest.js', '--selectProjects', project, '--maxWorkers=1'];
  const own = { GATEHOUSE_TEST_DATABASE: 'postgres', GATEHOUSE_PROOF_SEED: seed, ...env };
  const { status } = spawnSync(process.execPath, [...jest, ...specs, folder], {
    stdio: 'inherit',
    env: { ...process.env, ...own },
  });
  if (status !== 0) {
    throw new Error(`${folder} found a fault.`);
  }
}

function seconds(startedAt) {
  return Math.round((performance.now() - startedAt) / 1000);
}
