import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const POSTGRES = '/usr/lib/postgresql';

/** The whole suite: check and build, then the database tests on both kinds of database. */
const steps = ['check', 'build', 'test:embedded', 'test:postgres'];
const missing = missingServices();
if (missing.length > 0 && process.env.CI === undefined) {
  steps.pop();
}
const env = { ...process.env, GATEHOUSE_TEST_SKIP_BUILD: '1' };
if (steps.includes('test:postgres')) {
  env.GATEHOUSE_TEST_BOTH = '1';
}
for (const step of steps) {
  const { status } = spawnSync('npm', ['run', step], { stdio: 'inherit', env });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}
if (!steps.includes('test:postgres')) {
  console.warn(
    `\nNOT RUN: the tests on real PostgreSQL and Redis, because ${missing.join(' and ')} cannot be found.\n` +
      'On Debian: apt-get install postgresql redis-server\n',
  );
}

function missingServices() {
  const path = (process.env.PATH ?? '').split(delimiter);
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES) : [];
  const places = [...path, ...versions.map((version) => join(POSTGRES, version, 'bin'))];
  return ['initdb', 'redis-server'].filter(
    (name) => !places.some((place) => existsSync(join(place, name))),
  );
}
