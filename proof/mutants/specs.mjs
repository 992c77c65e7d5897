import { setTimeout as sleep } from 'node:timers/promises';
import { format } from 'node:util';
import { TestStatus } from '@stryker-mutator/api/test-runner';
import { expect } from 'expect';

// The globals of Jest that specs use, in the process of the runner: a spec is loaded once, and runs for each mutant.
// With a mutant, some tests and hooks wait for what never happens, so each has a limit.

const HANGING = 'The test did not end.';

/** The suite whose callback runs. */
let open = null;
/** The error that no promise and no caller of the running test caught. */
let uncaught = null;
const noteError = (error) => (uncaught ??= error);
process.on('uncaughtException', noteError).on('unhandledRejection', noteError);

/** @param id its place, because the text of a title may differ between processes: an error has its stack */
function suiteOf(name, id) {
  const hooks = { beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] };
  return { name, id, hooks, children: [] };
}

const nextId = ({ id, children }) => `${id} #${children.length}`;

function describe(name, define) {
  const outer = open;
  const suite = suiteOf(`${outer.name} ${name.name ?? name}`, nextId(outer));
  outer.children.push(suite);
  open = suite;
  define();
  open = outer;
}

function it(title, run) {
  open.children.push({ id: nextId(open), name: `${open.name} ${title}`, run });
}

const eachOf = (add) => (table) => (title, run) => {
  const rows = table.every(Array.isArray) ? table : table.map((row) => [row]);
  rows.forEach((row) => add(format(String(title), ...row), () => run(...row)));
};

const hook = (kind) => (run) => void open.hooks[kind].push(run);

Object.assign(globalThis, {
  ...{ expect, describe, it },
  ...{ beforeAll: hook('beforeAll'), afterAll: hook('afterAll') },
  ...{ beforeEach: hook('beforeEach'), afterEach: hook('afterEach') },
});
describe.each = eachOf(describe);
it.each = eachOf(it);

/** Loads a spec and returns its suite. */
export async function loadSpec(name, url) {
  open = suiteOf(name, name);
  const suite = open;
  await import(url);
  return suite;
}

export function testsIn(one) {
  return one.children === undefined ? [one] : one.children.flatMap(testsIn);
}

/**
 * Runs the selected tests of a suite in their order, with the hooks around them.
 *
 * @param run.isSelected by the id of a test
 * @param run.begins is called with the tests for which the next hook or test runs
 * @param run.isOver true ends the run early; `afterAll` hooks run nevertheless
 * @param run.limitMs by the id of a test: a test or a hook that takes longer hangs, and is the last one
 * @param run.results gets each outcome
 */
export async function runSuite(suite, run, outer = { before: [], after: [] }) {
  const tests = testsIn(suite).filter(({ id }) => run.isSelected(id));
  if (tests.length === 0 || run.isOver()) {
    return;
  }
  run.begins(tests);
  const first = tests[0];
  const failure = await within(run.limitMs(first.id), failureOf(suite.hooks.beforeAll));
  if (failure !== null) {
    run.results.push(outcomeOf(first, failure, 0));
  }
  const before = [...outer.before, ...suite.hooks.beforeEach];
  const after = [...suite.hooks.afterEach, ...outer.after];
  for (const child of suite.children) {
    if (child.children !== undefined) {
      await runSuite(child, run, { before, after });
    } else if (run.isSelected(child.id) && !run.isOver()) {
      run.begins([child]);
      run.results.push(await resultOf(child, before, after, run.limitMs(child.id)));
    }
  }
  // Hooks may wait for a test that hangs.
  if (!run.results.some(({ isHanging }) => isHanging)) {
    await within(run.limitMs(first.id), failureOf(suite.hooks.afterAll));
  }
}

async function resultOf(test, before, after, limitMs) {
  const start = performance.now();
  const ran = failureOf([...before, test.run]).then(async (failure) => {
    const cleanup = await failureOf(after);
    return failure ?? cleanup;
  });
  const failure = await within(limitMs, ran);
  return outcomeOf(test, failure, performance.now() - start);
}

/** Returns the outcome of steps, or {@link HANGING} if they take longer. */
async function within(limitMs, ran) {
  const limit = new AbortController();
  const late = sleep(limitMs, HANGING, { signal: limit.signal }).catch(() => null);
  const failure = await Promise.race([ran, late]);
  limit.abort();
  return failure;
}

function outcomeOf({ id, name }, failure, timeSpentMs) {
  return failure === null
    ? { id, name, timeSpentMs, status: TestStatus.Success }
    : {
        ...{ id, name, timeSpentMs, status: TestStatus.Failed, failureMessage: failure },
        isHanging: failure === HANGING,
      };
}

/** Runs steps up to the first failure, and returns its message. */
async function failureOf(steps) {
  uncaught = null;
  try {
    for (const step of steps) {
      await step();
    }
  } catch (error) {
    return messageOf(error);
  }
  return uncaught === null ? null : messageOf(uncaught);
}

function messageOf(error) {
  return error instanceof Error ? (error.stack ?? error.message) : format(error);
}
