import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const POSTGRES = '/usr/lib/postgresql';

/** The parts of the whole suite in order; those of one list run at once. */
const STEPS = [
  ['check:format', 'check:lint', 'check:types', 'test:unit', 'build'],
  ['test:embedded', 'test:postgres'],
];
const NEED_BUILD = ['test:embedded', 'test:postgres'];

const missing = missingServices();
const skipsPostgres = missing.length > 0 && process.env.CI === undefined;
const env = { ...process.env, GATEHOUSE_TEST_SKIP_BUILD: '1' };
if (!skipsPostgres) {
  env.GATEHOUSE_TEST_BOTH = '1';
}

const PASSED = 'passed';
const FAILED = 'FAILED';
/** By part, in the order in which they began. */
const outcomes = new Map();
for (const parts of STEPS) {
  await Promise.all(
    parts.map(async (part) => {
      outcomes.set(part, reasonNotToRun(part) ?? (await run(part)));
    }),
  );
}

const isWhole = [...outcomes].every(
  ([part, { outcome }]) => outcome === PASSED || (part === 'test:postgres' && skipsPostgres),
);
console.log(`\nSummary\n${[...outcomes].map(lineOf).join('\n')}`);
if (skipsPostgres) {
  console.warn('On Debian: apt-get install postgresql redis-server');
}
process.exit(isWhole ? 0 : 1);

/** @returns {{ outcome: string } | null} */
function reasonNotToRun(part) {
  if (part === 'test:postgres' && skipsPostgres) {
    return { outcome: `NOT RUN: ${missing.join(' and ')} cannot be found` };
  }
  const isBuilt = outcomes.get('build')?.outcome === PASSED;
  return NEED_BUILD.includes(part) && !isBuilt ? { outcome: 'NOT RUN: the build failed' } : null;
}

/** Runs an npm script to its end. */
async function run(part) {
  const begun = performance.now();
  const [status] = await once(spawn('npm', ['run', part], { stdio: 'inherit', env }), 'exit');
  const seconds = Math.round((performance.now() - begun) / 1000);
  return { outcome: status === 0 ? PASSED : FAILED, seconds };
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
