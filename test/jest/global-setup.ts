import { execFileSync } from 'node:child_process';
// Jest loads this file with require(), which does not find a .ts file under a .js name.
import {
  createDatabase,
  migrateDatabase,
  startPostgres,
  startRedis,
} from '../fixtures/programs/services-fixture.ts';

type Cleanup = () => Promise<void> | void;

/** Tasks of the teardown, latest first. */
export const cleanups: Cleanup[] = [];

/**
 * Builds what is stale (not with GATEHOUSE_TEST_SKIP_BUILD=1). PostgreSQL gets TEST_DATABASE_URL,
 * TEST_DATABASE_TEMPLATE (migrated, to copy) and TEST_REDIS_URL.
 */
export default async function globalSetup({ rootDir }: { rootDir: string }): Promise<void> {
  if (process.env['GATEHOUSE_TEST_SKIP_BUILD'] !== '1') {
    execFileSync('npm', ['run', '--silent', 'build:tests'], {
      cwd: rootDir,
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  if (process.env['GATEHOUSE_TEST_DATABASE'] !== 'postgres') {
    return;
  }
  try {
    await startServices();
  } catch (error) {
    // Jest does not run the teardown after a setup that failed.
    await cleanUp();
    throw error;
  }
}

export async function cleanUp(): Promise<void> {
  for (let next = cleanups.pop(); next; next = cleanups.pop()) {
    await next();
  }
}

async function startServices(): Promise<void> {
  const postgres = await startPostgres({ durable: false });
  cleanups.push(() => postgres.stop());
  const redis = await startRedis();
  cleanups.push(() => redis.stop());
  const template = 'gatehouse_template';
  migrateDatabase((await createDatabase(postgres.url, { name: template })).url);
  process.env['TEST_DATABASE_URL'] = postgres.url;
  process.env['TEST_DATABASE_TEMPLATE'] = template;
  process.env['TEST_REDIS_URL'] = redis.url;
}
