import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { declareFactoryPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  determineHitLimitReached,
  MutantRunStatus,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import { loadSpec, runSuite, testsIn } from './specs.mjs';

/** Milliseconds of each test without a mutant. */
const TIMES = 'times-of-tests.json';
/** With a mutant, a test that takes this longer than ten times as long as without hangs. */
const LIMIT_MS = 5000;
const DRY_LIMIT_MS = 120_000;
// A test that fails by itself needs no other process after it.
process.env.GATEHOUSE_TEST_WAIT_MS = '3000';

/**
 * Runs the unit specs of a folder in one process, which loads them once. Jest would load all modules again for
 * each mutant, which takes longer than the tests.
 */
class SpecsRunner {
  #suite = null;
  #times = {};
  /** The state that Stryker shares with mutated sources. */
  #shared = (globalThis.__stryker__ ??= {});

  capabilities() {
    return { reloadEnvironment: false };
  }

  async dryRun() {
    await this.#load();
    const together = new Map();
    const results = await this.#run({
      isSelected: () => true,
      isOver: () => false,
      limitMs: () => DRY_LIMIT_MS,
      begins: (tests) => {
        const ids = tests.map(({ id }) => id);
        this.#shared.currentTestId = ids.length === 1 ? ids[0] : `hooks of ${ids[0]}`;
        together.set(this.#shared.currentTestId, ids);
      },
      results: [],
    });
    this.#times = Object.fromEntries(results.map(({ id, timeSpentMs }) => [id, timeSpentMs]));
    writeFileSync(TIMES, JSON.stringify(this.#times));
    const { mutantCoverage = { static: {}, perTest: {} } } = this.#shared;
    return { status: 'complete', tests: results, mutantCoverage: spread(mutantCoverage, together) };
  }

  async mutantRun({ activeMutant, mutantActivation, testFilter, hitLimit }) {
    const shared = this.#shared;
    Object.assign(shared, { hitCount: hitLimit === undefined ? undefined : 0, hitLimit });
    if (mutantActivation === 'static') {
      shared.activeMutant = activeMutant.id;
    }
    await this.#load();
    shared.activeMutant = activeMutant.id;
    const selected = testFilter && new Set(testFilter);
    const results = [];
    const tests = await this.#run({
      isSelected: (id) => selected?.has(id) ?? true,
      isOver: () => results.some((one) => one.status === TestStatus.Failed),
      limitMs: (id) => LIMIT_MS + 10 * (this.#times[id] ?? 0),
      begins: () => undefined,
      results,
    });
    const { hitCount } = shared;
    Object.assign(shared, { activeMutant: undefined, hitCount: undefined });
    if (tests.some(({ isHanging }) => isHanging)) {
      // A test that goes on would disturb later ones. Stryker starts another process.
      setTimeout(() => process.exit(1), 50);
      return { status: MutantRunStatus.Timeout, reason: tests.at(-1).failureMessage };
    }
    const endless = determineHitLimitReached(hitCount, hitLimit);
    return toMutantRunResult(endless ?? { status: 'complete', tests }, true);
  }

  async #load() {
    if (this.#suite !== null) {
      return;
    }
    register('./typescript.mjs', import.meta.url);
    const folder = process.env.GATEHOUSE_MUTANTS;
    const children = [];
    for (const name of readdirSync(folder, { recursive: true }).sort()) {
      // Random cases would decide about a mutant by chance, and take long.
      if (/\.(integration-)?spec\.ts$/.test(name) && !name.endsWith('.property.spec.ts')) {
        children.push(await loadSpec(name, pathToFileURL(resolve(join(folder, name))).href));
      }
    }
    this.#times = existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {};
    const timeOf = (spec) => testsIn(spec).reduce((sum, { id }) => sum + (this.#times[id] ?? 0), 0);
    // The fast ones run first.
    this.#suite = { children: children.sort((a, b) => timeOf(a) - timeOf(b)) };
  }

  async #run(run) {
    for (const child of this.#suite.children) {
      await runSuite(child, run);
    }
    return run.results;
  }
}

/** Counts what a hook of several tests executes for each of them. */
function spread({ static: loaded, perTest }, together) {
  const all = {};
  for (const [key, counts] of Object.entries(perTest)) {
    for (const id of together.get(key) ?? [key]) {
      const sum = (all[id] ??= {});
      Object.entries(counts).forEach(
        ([mutant, count]) => (sum[mutant] = (sum[mutant] ?? 0) + count),
      );
    }
  }
  return { static: loaded, perTest: all };
}

export const strykerPlugins = [
  declareFactoryPlugin(PluginKind.TestRunner, 'specs', () => new SpecsRunner()),
];
