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

/** Milliseconds of each spec without a mutant: the fast ones run first. */
const TIMES = 'times-of-specs.json';

/**
 * Runs the unit specs of a folder in one process, which loads them once. Jest would load all modules again for
 * each mutant, which takes longer than the tests.
 */
class SpecsRunner {
  #suite = null;
  /** The state that Stryker shares with mutated sources. */
  #shared = (globalThis.__stryker__ ??= {});

  capabilities() {
    return { reloadEnvironment: false };
  }

  async dryRun() {
    await this.#load();
    const together = new Map();
    const results = await this.#run(undefined, (tests) => {
      const ids = tests.map(({ id }) => id);
      this.#shared.currentTestId = ids.length === 1 ? ids[0] : `hooks of ${ids[0]}`;
      together.set(this.#shared.currentTestId, ids);
    });
    const times = this.#suite.children.map((spec) => {
      const ids = new Set(testsIn(spec).map(({ id }) => id));
      const ran = results.filter(({ id }) => ids.has(id));
      return [spec.name, ran.reduce((sum, { timeSpentMs }) => sum + timeSpentMs, 0)];
    });
    writeFileSync(TIMES, JSON.stringify(Object.fromEntries(times)));
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
    const tests = await this.#run(testFilter && new Set(testFilter), () => undefined);
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
      if (name.endsWith('.spec.ts') && !name.endsWith('.property.spec.ts')) {
        children.push(await loadSpec(name, pathToFileURL(resolve(join(folder, name))).href));
      }
    }
    const times = existsSync(TIMES) ? JSON.parse(readFileSync(TIMES, 'utf8')) : {};
    this.#suite = { children: children.sort((a, b) => times[a.name] - times[b.name] || 0) };
  }

  /** Runs the tests with these ids, or all, up to the first failure where they are given. */
  async #run(ids, begins) {
    const results = [];
    const isOver = () =>
      ids !== undefined && results.some(({ status }) => status === TestStatus.Failed);
    const isSelected = (id) => ids === undefined || ids.has(id);
    for (const child of this.#suite.children) {
      await runSuite(child, { isSelected, isOver, begins, results });
    }
    return results;
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
