import { rmSync } from 'node:fs';
import { freshDataDirectory } from './data-directory.js';
import { createDatabase, migrateDatabase, type TestDatabase } from './services.js';

/** Whether this run uses a real PostgreSQL (GATEHOUSE_TEST_DATABASE=postgres). */
export const IS_POSTGRES = process.env['GATEHOUSE_TEST_DATABASE'] === 'postgres';

const MASTER_SECRET = 'a-master-secret-that-only-tests-know-0123456789';

/**
 * A database that answers is never too slow, for a server or the command line: only the specs whose
 * database hangs or locks have time-outs to wait for.
 */
export const DATABASE_TIMES = {
  SERVICE_DATABASE_CONNECT_TIMEOUT_MS: '60000',
  SERVICE_DATABASE_STATEMENT_TIMEOUT_MS: '60000',
  SERVICE_DATABASE_LOCK_TIMEOUT_MS: '20000',
};

/** What a server keeps its data in: one database, fresh and migrated. */
export interface Store {
  /** null with the embedded database. */
  readonly databaseUrl: string | null;
  readonly env: Readonly<Record<string, string>>;
  drop(): Promise<void>;
}

/** A fresh store of the kind this run is about. */
export async function createStore(): Promise<Store> {
  if (!IS_POSTGRES) {
    return embeddedStore();
  }
  const template = variable('TEST_DATABASE_TEMPLATE');
  return postgresStore(await createDatabase(variable('TEST_DATABASE_URL'), { template }));
}

/** An empty database on the server of this run, which has to be PostgreSQL. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return createDatabase(variable('TEST_DATABASE_URL'));
}

/** A fresh, migrated database on a server of the test's own. */
export async function createPostgresStore(url: string): Promise<Store> {
  const database = await createDatabase(url);
  migrateDatabase(database.url);
  return postgresStore(database);
}

function postgresStore({ url, drop }: TestDatabase): Store {
  return {
    databaseUrl: url,
    env: { DATABASE_URL: url, SERVICE_MASTER_SECRET: MASTER_SECRET, ...DATABASE_TIMES },
    drop,
  };
}

/** What the global set-up of a run on PostgreSQL leaves. */
function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`GATEHOUSE_TEST_DATABASE=postgres needs ${name}`);
  }
  return value;
}

async function embeddedStore(): Promise<Store> {
  const directory = await freshDataDirectory();
  const removeOnExit = (): void => rmSync(directory.path, { recursive: true, force: true });
  process.once('exit', removeOnExit);
  return {
    databaseUrl: null,
    env: { SERVICE_DATA_DIR: directory.path },
    drop: async () => {
      process.removeListener('exit', removeOnExit);
      await directory.remove();
    },
  };
}
