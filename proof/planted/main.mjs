import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readPlanted } from './planted.mjs';

// `npm run prove:planted [-- names]`: applies each planted bug to a copy, and fails unless its part catches it.

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** A bug may let a test wait for ever, which is a failure too. */
const LIMIT_MS = { unit: 60_000, full: 900_000, nightly: 900_000 };
const SEED = Number(process.env.GATEHOUSE_PROOF_SEED ?? 1);

const names = process.argv.slice(2);
const planted = readPlanted().filter(({ name }) => names.length === 0 || names.includes(name));
const copy = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-planted-')));
const passed = new Set();
const missed = [];
try {
  makeCopy();
  for (const one of planted) {
    const problem = await check(one);
    console.log(`${one.name}: ${problem ?? `${one.invariant}, caught by ${one.part}`}`);
    if (problem !== null) {
      missed.push(one.name);
    }
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}
if (planted.length === 0 || missed.length > 0) {
  console.error(`Not caught: ${missed.join(', ') || 'no planted bug has this name'}`);
  process.exitCode = 1;
}

function makeCopy() {
  // In the container of a workflow the checkout has another owner, which Git refuses by default.
  const list = ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard'];
  const stdout = execFileSync('git', [...list, '-z'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  for (const file of stdout.split('\0').filter((name) => name !== '')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(ROOT, file), join(copy, file));
  }
  for (const folder of ['node_modules', 'proof/node_modules']) {
    symlinkSync(join(ROOT, folder), join(copy, folder));
  }
}

/** @returns the reason why a bug was not caught; null: it was */
async function check(one) {
  // A part that fails without the bug would seem to catch every bug.
  const key = `${one.part} ${one.test}`;
  if (!passed.has(key)) {
    const { failures, problem } = await run(one);
    if (problem !== null || failures.length > 0) {
      return problem ?? `its part fails without it: ${failures.join(', ')}`;
    }
    passed.add(key);
  }
  if (!apply(one.path)) {
    return 'its patch does not apply';
  }
  try {
    let reason = null;
    for (const seed of seedsOf(one)) {
      const { failures, problem } = await run(one, seed);
      if (failures.includes(one.instance === null ? one.test : one.invariant)) {
        return null;
      }
      reason = problem ?? `not caught; failed: ${failures.join(', ') || 'nothing'}`;
    }
    return reason;
  } finally {
    apply(one.path, '--reverse');
  }
}

function apply(path, ...options) {
  const { status, stderr } = spawnSync('git', ['apply', ...options, path], {
    cwd: copy,
    encoding: 'utf8',
  });
  process.stderr.write(stderr);
  return status === 0;
}

/**
 * A history depends on the order in which processes run, too, and the traces of one seed may take a step only where it
 * changes nothing: one seed of three has to show the bug.
 */
function seedsOf({ part }) {
  return /^proof\/(histories|traces)\//.test(part) ? [SEED, SEED + 1, SEED + 2] : [SEED];
}

/** @returns the invariants, or the titles of the tests, that fail */
async function run({ instance, part, test }, seed = SEED) {
  return instance === null ? runTest(part, test, seed) : explore(instance);
}

async function explore(instance) {
  const models = pathToFileURL(join(copy, 'proof/search/models.mjs')).href;
  const { exploreInstance } = await import(models);
  const { violation } = exploreInstance(instance);
  return { failures: violation === null ? [] : [violation.invariant], problem: null };
}

function runTest(part, test, seed) {
  const report = join(copy, 'report.json');
  rmSync(report, { force: true });
  const [, kind = 'unit'] = /\.(e2e|full|nightly)-spec\.ts$/.exec(part) ?? [];
  const project = kind === 'e2e' ? 'full' : kind;
  const jest = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const limit = `--testTimeout=${LIMIT_MS[project]}`;
  const reporting = ['--json', '--outputFile', report, '--forceExit'];
  const options = ['--selectProjects', project, '--maxWorkers=1', limit, ...reporting];
  const pattern = test.replaceAll(/[^\w ]/g, '.');
  const { stderr } = spawnSync(
    process.execPath,
    [...jest, 'node_modules/jest/bin/jest.js', ...options, '--runTestsByPath', part, '-t', pattern],
    {
      cwd: copy,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      env: {
        ...process.env,
        GATEHOUSE_TEST_DATABASE: 'postgres',
        GATEHOUSE_PROOF_SEED: String(seed),
      },
    },
  );
  return readReport(report) ?? { failures: [], problem: `no test ran:\n${stderr}` };
}

/** @returns null where no test ran */
function readReport(path) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const ran = tests.filter(({ status }) => status === 'passed' || status === 'failed');
  const failures = ran.filter(({ status }) => status === 'failed').map(({ title }) => title);
  return ran.length === 0 ? null : { failures, problem: null };
}
