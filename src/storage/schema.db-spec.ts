import type { DataSource } from 'typeorm';
import { createDatabase, startPostgres, type Service } from '../../test/helpers/services.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { createDataSource } from './data-source.js';
import { pendingMigrations, runMigrations } from './migrations.js';

const { storage } = resolveSettings({}).settings;

describe('the schema', () => {
  let postgres: Service;
  let source: DataSource;
  beforeAll(async () => {
    postgres = await startPostgres({ durable: false });
    const { url } = await createDatabase(postgres.url);
    await runMigrations({ url }, storage);
    source = createDataSource({ url }, storage);
    await source.initialize();
  });
  afterAll(async () => {
    await source.destroy();
    await postgres.stop();
  });

  it('is the same in the migrations as in the entities', async () => {
    const { upQueries } = await source.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
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
