import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DataSource } from 'typeorm';
import { createEmptyDatabase } from '../../test/helpers/server-store.js';
import type { TestDatabase } from '../../test/helpers/services.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { dataSourceOptions, pendingMigrations, runMigrations } from './data-source.js';

const { storage } = resolveSettings({}).settings;

const TYPEORM = join(import.meta.dirname, '../../node_modules/typeorm/cli.js');
const CLI_DATA_SOURCE = join(import.meta.dirname, '../../dist/storage/cli-data-source.js');

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

  it("is made by TypeORM's own command line as well", async () => {
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

  it('goes back to nothing and comes again', async () => {
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
});
