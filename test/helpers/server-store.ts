import { rmSync } from 'node:fs';
import { resolveSettings } from '../../src/config/resolve-settings.js';
import { runMigrations } from '../../src/storage/migrations.js';
import { freshDataDirectory } from './embedded-template.js';
import { createDatabase } from './services.js';
import { WAIT_LIMIT_MS } from './wait.js';

/** Whether this run uses a real PostgreSQL (GATEHOUSE_TEST_DATABASE=postgres). */
export const IS_POSTGRES = process.env['GATEHOUSE_TEST_DATABASE'] === 'postgres';

const MASTER_SECRET = 'a-master-secret-that-only-tests-know-0123456789';

/** What a server keeps its data in: one database, fresh and migrated. */
export interface Store {
  /** null with the embedded database. */
  readonly databaseUrl: string | null;
  readonly env: Readonly<Record<string, string>>;
  drop(): Promise<void>;
}

/** A fresh store of the kind this run is about. */
export function createStore(): Promise<Store> {
  return IS_POSTGRES ? createPostgresStore(testDatabaseUrl()) : embeddedStore();
}

/** A fresh, migrated database on the server of `url`. */
export async function createPostgresStore(url: string): Promise<Store> {
  const database = await createDatabase(url);
  const { storage } = resolveSettings({}).settings;
  await runMigrations({ url: database.url }, { ...storage, connectTimeoutMs: WAIT_LIMIT_MS });
  return {
    databaseUrl: database.url,
    env: { DATABASE_URL: database.url, SERVICE_MASTER_SECRET: MASTER_SECRET },
    drop: () => database.drop(),
  };
}

function testDatabaseUrl(): string {
  const url = process.env['TEST_DATABASE_URL'];
  if (url === undefined) {
    throw new Error('GATEHOUSE_TEST_DATABASE=postgres needs TEST_DATABASE_URL');
  }
  return url;
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
