import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import type { TestDatabase } from '../../../test/fixtures/programs/services-fixture.js';
import {
  createEmptyDatabase,
  EARLIER_COMMITS,
  restoreDatabase,
} from '../../../test/fixtures/programs/store-fixture.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { dataSourceOptions, pendingMigrations, runMigrations } from './data-source.js';

const { storage } = resolveSettings({}).settings;

const TYPEORM = join(import.meta.dirname, '../../../node_modules/typeorm/cli.js');
const CLI_DATA_SOURCE = join(
  import.meta.dirname,
  '../../../dist/server/storage/cli-data-source.js',
);

describe('the schema', () => {
  let database: TestDatabase;
  let source: DataSource;
  beforeAll(async () => {
    database = await createEmptyDatabase();
    const { url } = database;
    await runMigrations({ url }, storage);
    source = new DataSource({ ...dataSourceOptions(storage), url });
    await source.initialize();
  });
  afterAll(async () => {
    await source.destroy();
    await database.drop();
  });

  it('is the same in the migrations as in the entities', async () => {
    const { upQueries } = await source.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('is created by the command line of TypeORM as well', async () => {
    const { url, drop } = await createEmptyDatabase();
    const env = { ...process.env, DATABASE_URL: url, SERVICE_MASTER_SECRET: 'x'.repeat(44) };
    await promisify(execFile)(
      process.execPath,
      [TYPEORM, 'migration:run', '-d', CLI_DATA_SOURCE, '-t', 'each'],
      { env },
    );
    const made = new DataSource({ ...dataSourceOptions(storage), url });
    await made.initialize();
    expect(await pendingMigrations(made)).toEqual([]);
    await made.destroy();
    await drop();
  });

  it('is reverted completely and created again', async () => {
    for (const { name } of source.migrations) {
      expect(name).toBeDefined();
      await source.undoLastMigration({ transaction: 'each' });
    }
    expect(await pendingMigrations(source)).toHaveLength(source.migrations.length);
    const left = await source.query<{ name: string }[]>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`,
    );
    expect(left.map(({ name }) => name)).toEqual(['schema_migration']);
    await source.runMigrations({ transaction: 'each' });
    expect(await pendingMigrations(source)).toEqual([]);
  });

  it.each(EARLIER_COMMITS)(
    'is the same after an upgrade from %s, which loses no row',
    async (commit) => {
      const { url, drop } = await restoreDatabase(commit);
      const earlier = new DataSource({ ...dataSourceOptions(storage), url });
      await earlier.initialize();
      const names = source.migrations.map(({ name }) => name);
      expect(await pendingMigrations(earlier)).toEqual(names);
      const rows = await countRows(earlier);
      expect(await runMigrations({ url }, storage)).toEqual(names);
      expect(await runMigrations({ url }, storage)).toEqual([]);
      expect(await schemaOf(earlier)).toEqual(await schemaOf(source));

      const [, ...later] = names;
      for (const name of later.toReversed()) {
        await earlier.undoLastMigration({ transaction: 'each' });
        expect(await pendingMigrations(earlier)).toContain(name);
      }
      // The two tables that only the earlier commits use refer to accounts.
      const revert = earlier.undoLastMigration({ transaction: 'each' });
      await expect(revert).rejects.toThrow('cannot drop desired object(s)');
      expect(await pendingMigrations(earlier)).toEqual(later);
      expect(await countRows(earlier)).toMatchObject(rows);
      await earlier.destroy();
      await drop();
    },
  );
});

const UNUSED_TABLES = ['device_request', 'token_revocation'];

/** Describes columns, constraints, indexes and triggers, except those of unused tables. */
async function schemaOf(source: DataSource): Promise<string[]> {
  const rows = await source.query<{ definition: string }[]>(
    `SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, identity_generation)
       AS definition
     FROM information_schema.columns
     WHERE table_schema = 'public' AND table_name <> ALL ($1)
     UNION ALL
     SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
     WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> ALL ($1)
     UNION ALL
     SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> ALL ($1)
     UNION ALL
     SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL
     SELECT concat_ws(' ', relname, reloptions) FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> ALL ($1)`,
    [UNUSED_TABLES],
  );
  return rows.map(({ definition }) => definition).sort();
}

async function countRows(source: DataSource): Promise<Record<string, string>> {
  const tables = await source.query<{ name: string }[]>(
    `SELECT tablename AS name FROM pg_tables
     WHERE schemaname = 'public' AND tablename <> 'schema_migration'`,
  );
  const counts = tables.map(async ({ name }) => {
    const [found] = await source.query<{ count: string }[]>(`SELECT count(*) FROM "${name}"`);
    return [name, found?.count ?? ''] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}
