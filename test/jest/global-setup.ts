import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
// Jest loads this file with require(), which does not find a .ts file under a .js name.
import { makeNamespaceOfRun } from '../fixtures/programs/network-namespace-fixture.ts';
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
 * Builds what is stale (not with GATEHOUSE_TEST_SKIP_BUILD=1). Sets TEST_EMBEDDED_TEMPLATE, a migrated
 * database to copy; with PostgreSQL also TEST_DATABASE_TEMPLATE and, unless a server is given, TEST_DATABASE_URL,
 * TEST_REDIS_URL and TEST_NETWORK_NAMESPACE.
 */
export default async function globalSetup({ rootDir }: { rootDir: string }): Promise<void> {
  if (process.env['GATEHOUSE_TEST_SKIP_BUILD'] !== '1') {
    execFileSync('npm', ['run', '--silent', 'build:tests'], {
      cwd: rootDir,
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  try {
    loadEmbeddedTemplate(rootDir);
    if (process.env['GATEHOUSE_TEST_DATABASE'] === 'postgres') {
      const given = process.env['TEST_DATABASE_URL'];
      await (given === undefined ? startServices() : createTemplate(given));
    }
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

/** A start that loads the database of the build itself takes twice the work. */
function loadEmbeddedTemplate(rootDir: string): void {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-template-'));
  const template = join(directory, 'db');
  const module = pathToFileURL(join(rootDir, 'dist/server/storage/database-template.js')).href;
  const script = `await (await import('${module}')).loadDatabaseTemplate(process.argv[1]);`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script, template], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.env['TEST_EMBEDDED_TEMPLATE'] = template;
}

async function startServices(): Promise<void> {
  cleanups.push(makeNamespaceOfRun() ?? (() => undefined));
  const postgres = await startPostgres({ durable: false });
  cleanups.push(() => postgres.stop());
  const redis = await startRedis();
  cleanups.push(() => redis.stop());
  await createTemplate(postgres.url);
  process.env['TEST_DATABASE_URL'] = postgres.url;
  process.env['TEST_REDIS_URL'] = redis.url;
}

async function createTemplate(server: string): Promise<void> {
  const { url, drop } = await createDatabase(server);
  cleanups.push(drop);
  migrateDatabase(url);
  process.env['TEST_DATABASE_TEMPLATE'] = new URL(url).pathname.slice(1);
}
