import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, relative } from 'node:path';

const POSTGRES = '/usr/lib/postgresql';

// `.ci/run` sets it for the second version of Node: format, lint and types are the same on any.
const isChecked = process.env.GATEHOUSE_TEST_CHECKED === '1';

const BUILD = 'build:tests';

/** The parts of the whole suite, each with those that end before it begins. */
const PARTS = [
  ...(isChecked ? [] : [['check:format'], ['check:lint'], ['check:types']]),
  ['test:unit'],
  [BUILD],
  ['test:embedded', BUILD],
  // Its workers and those of the unit tests together would be more than two processors need.
  ['test:postgres', BUILD, 'test:unit'],
];

/** So many spec files may fail once: they run again, alone, and the summary names them. */
const MOST_RUN_AGAIN = process.env.GATEHOUSE_TEST_ONCE === undefined ? 2 : 0;

const missing = missingServices();
const skipsPostgres = missing.length > 0 && process.env.CI === undefined;
const env = { ...process.env, GATEHOUSE_TEST_SKIP_BUILD: '1' };
if (!skipsPostgres) {
  env.GATEHOUSE_TEST_BOTH = '1';
}

const PASSED = 'passed';
const FAILED = 'FAILED';
const results = mkdtempSync(join(tmpdir(), 'gatehouse-results-'));
/** By part, in the order in which they ended. */
const outcomes = new Map();
const ends = new Map();
for (const [part, ...before] of PARTS) {
  const begin = Promise.all(before.map((one) => ends.get(one)));
  ends.set(
    part,
    begin.then(async () => outcomes.set(part, reasonNotToRun(part, before) ?? (await run(part)))),
  );
}
await Promise.all(ends.values());

const failedFiles = new Map(
  [...outcomes.keys()]
    .map((part) => [part, failedFilesOf(part)])
    .filter(([, files]) => files.length > 0),
);
const toRunAgain = [...failedFiles.values()].flat().length <= MOST_RUN_AGAIN ? failedFiles : [];
for (const [part, files] of toRunAgain) {
  const again = await run(part, ['--runTestsByPath', ...files]);
  if (again.outcome === PASSED) {
    outcomes.set(part, { ...outcomes.get(part), outcome: passedAgain(files) });
  }
}
rmSync(results, { recursive: true });

const isWhole = [...outcomes].every(
  ([part, { outcome }]) =>
    outcome.startsWith(PASSED) || (part === 'test:postgres' && skipsPostgres),
);
console.log(`\nSummary\n${[...outcomes].map(lineOf).join('\n')}`);
if (skipsPostgres) {
  console.warn('On Debian: apt-get install postgresql redis-server');
}
process.exit(isWhole ? 0 : 1);

/** @returns {{ outcome: string } | null} */
function reasonNotToRun(part, before) {
  if (part === 'test:postgres' && skipsPostgres) {
    return { outcome: `NOT RUN: ${missing.join(' and ')} cannot be found` };
  }
  const isBuilt = outcomes.get(BUILD)?.outcome === PASSED;
  return before.includes(BUILD) && !isBuilt ? { outcome: 'NOT RUN: the build failed' } : null;
}

/** Runs an npm script to its end. */
async function run(part, more = []) {
  const startedAt = performance.now();
  const outputs = isOfSpecs(part)
    ? ['--', '--json', `--outputFile=${resultOf(part)}`, ...more]
    : [];
  const options = { stdio: 'inherit', env };
  const [status] = await once(spawn('npm', ['run', part, ...outputs], options), 'exit');
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return { outcome: status === 0 ? PASSED : FAILED, seconds };
}

function isOfSpecs(part) {
  return part.startsWith('test:');
}

function resultOf(part) {
  return join(results, `${part.replace(':', '-')}.json`);
}

function passedAgain(files) {
  const names = files.map((file) => relative('.', file)).join(', ');
  return `${PASSED}, but these FAILED once and passed when they ran again: ${names}`;
}

/** The files whose specs failed, in a part that ran to its end. */
function failedFilesOf(part) {
  const isEnded = isOfSpecs(part) && outcomes.get(part).outcome === FAILED;
  if (!isEnded || !existsSync(resultOf(part))) {
    return [];
  }
  const { testResults } = JSON.parse(readFileSync(resultOf(part), 'utf8'));
  return testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
}

function lineOf([part, { outcome, seconds }]) {
  return `  ${part.padEnd(15)}${outcome}${seconds === undefined ? '' : ` (${seconds} s)`}`;
}

function missingServices() {
  const path = (process.env.PATH ?? '').split(delimiter);
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
  const places = [...path, ...versions.map((version) => join(POSTGRES, version, 'bin'))];
  return ['initdb', 'redis-server'].filter(
    (name) => !places.some((place) => existsSync(join(place, name))),
  );
}
