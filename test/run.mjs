import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { specFiles, tiersOf } from './jest/tiers.mjs';

// node test/run.mjs core|full|nightly
const POSTGRES = '/usr/lib/postgresql';
const BUILD = 'build:tests';
const CHECKS = [['check:format'], ['check:lint'], ['check:types'], ['specs:unit'], [BUILD]];

/** The parts of each tier, each with those that end before it begins. */
const PARTS = {
  core: [...CHECKS, ['specs:core', BUILD, 'specs:unit']],
  full: [
    ...[...CHECKS, ['check:lint:typed'], ['check:types:full']],
    ['specs:embedded', BUILD],
    // Its workers and those of the unit tests together would be more than two processors need.
    ['specs:full', BUILD, 'specs:unit'],
  ],
  nightly: [
    [BUILD],
    ['specs:nightly', BUILD],
    ['prove:nightly', 'specs:nightly'],
    ['prove:planted', 'prove:nightly'],
    ['prove:mutants', 'prove:planted'],
  ],
};
const NEEDS_SERVICES = ['specs:full', 'specs:nightly', 'prove:nightly', 'prove:planted'];

const OTHER_TIERS = {
  full: 'PostgreSQL and Redis, browsers, the chart, proxies, certificates, packages, Python',
  nightly: 'further browsers, all pictures, and the proof of revocation',
};

const [, , tier = 'core'] = process.argv;
const missing = missingServices();
const skipsServices = missing.length > 0 && process.env.CI === undefined;
const env = { ...process.env, GATEHOUSE_TEST_SKIP_BUILD: '1' };
if (tier === 'core' && process.env.DATABASE_URL !== undefined) {
  Object.assign(env, {
    GATEHOUSE_TEST_DATABASE: 'postgres',
    TEST_DATABASE_URL: process.env.DATABASE_URL,
  });
}

const PASSED = 'passed';
const FAILED = 'FAILED';
/** By part, in the order in which they ended. */
const outcomes = new Map();
const ends = new Map();
for (const [part, ...before] of PARTS[tier]) {
  const begin = Promise.all(before.map((one) => ends.get(one)));
  ends.set(
    part,
    begin.then(async () => outcomes.set(part, reasonNotToRun(part, before) ?? (await run(part)))),
  );
}
await Promise.all(ends.values());

const isWhole = [...outcomes].every(
  ([part, { outcome }]) => outcome === PASSED || (NEEDS_SERVICES.includes(part) && skipsServices),
);
console.log(`\nSummary\n${[...outcomes].map(lineOf).join('\n')}`);
if (tier !== 'core' && skipsServices) {
  console.warn('On Debian: apt-get install postgresql redis-server');
}
const others = Object.keys(OTHER_TIERS).filter((other) => other !== tier);
console.log(`Not run here:\n${others.map(describeTier).join('\n')}`);
process.exit(isWhole ? 0 : 1);

/** @returns {{ outcome: string } | null} */
function reasonNotToRun(part, before) {
  if (NEEDS_SERVICES.includes(part) && skipsServices) {
    return { outcome: `NOT RUN: ${missing.join(' and ')} cannot be found` };
  }
  const isBuilt = outcomes.get(BUILD)?.outcome === PASSED;
  return before.includes(BUILD) && !isBuilt ? { outcome: 'NOT RUN: the build failed' } : null;
}

/** Runs an npm script to its end. */
async function run(part) {
  const startedAt = performance.now();
  const [status] = await once(spawn('npm', ['run', part], { stdio: 'inherit', env }), 'exit');
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  return { outcome: status === 0 ? PASSED : FAILED, seconds };
}

function lineOf([part, { outcome, seconds }]) {
  return `  ${part.padEnd(17)}${outcome}${seconds === undefined ? '' : ` (${seconds} s)`}`;
}

function describeTier(other) {
  const count = specFiles().filter((path) => tiersOf(path).includes(other)).length;
  return `  npm run test:${other.padEnd(9)}${count} spec files: ${OTHER_TIERS[other]}`;
}

function missingServices() {
  const path = (process.env.PATH ?? '').split(delimiter);
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
  const places = [...path, ...versions.map((version) => join(POSTGRES, version, 'bin'))];
  return ['initdb', 'redis-server'].filter(
    (name) => !places.some((place) => existsSync(join(place, name))),
  );
}
