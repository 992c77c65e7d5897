import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const POSTGRES = '/usr/lib/postgresql';

/** The whole suite, what stands in one list at once: check, build, then both kinds of database. */
const checks = ['check:format', 'check:lint', 'check:types', 'test:unit'];
const steps = [checks, ['build'], ['test:embedded'], ['test:postgres']];
const missing = missingServices();
if (missing.length > 0 && process.env.CI === undefined) {
  steps.pop();
}
const env = { ...process.env, GATEHOUSE_TEST_SKIP_BUILD: '1' };
const hasPostgres = steps.some((scripts) => scripts.includes('test:postgres'));
if (hasPostgres) {
  env.GATEHOUSE_TEST_BOTH = '1';
}
for (const scripts of steps) {
  const statuses = await Promise.all(scripts.map(run));
  if (statuses.some((status) => status !== 0)) {
    process.exit(1);
  }
}
if (!hasPostgres) {
  console.warn(
    `\nNOT RUN: the tests on real PostgreSQL and Redis, because ${missing.join(' and ')} cannot be found.\n` +
      'On Debian: apt-get install postgresql redis-server\n',
  );
}

/** What the npm script ended with. */
async function run(script) {
  const [status] = await once(spawn('npm', ['run', script], { stdio: 'inherit', env }), 'exit');
  return status;
}

function missingServices() {
  const path = (process.env.PATH ?? '').split(delimiter);
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
  const places = [...path, ...versions.map((version) => join(POSTGRES, version, 'bin'))];
  return ['initdb', 'redis-server'].filter(
    (name) => !places.some((place) => existsSync(join(place, name))),
  );
}
