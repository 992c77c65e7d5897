import { Client } from 'pg';
import { DataSource } from 'typeorm';
import {
  runSql,
  startPgBouncer,
  type TestDatabase,
} from '../../../test/fixtures/programs/services-fixture.js';
import { createEmptyDatabase } from '../../../test/fixtures/programs/store-fixture.js';
import { waitFor } from '../../../test/helpers/wait.js';
import { Timers } from '../../common/runtime/timers.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { dataSourceOptions, runMigrations } from './data-source.js';

const { storage } = resolveSettings({}).settings;
const DETAILS = 'AuditDetails1765300000000';

describe(runMigrations.name, () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createEmptyDatabase();
  });
  afterEach(() => database.drop());

  it('blocks no statement of a request for long while it waits for a transaction', async () => {
    const { url } = database;
    await runMigrations({ url }, storage);
    await revertTo(url, DETAILS);
    const [backup, request] = [new Client(url), new Client(url)];
    await Promise.all([backup.connect(), request.connect()]);
    await backup.query('BEGIN');
    await backup.query('SELECT 1 FROM audit_event LIMIT 1');

    const waiting: string[] = [];
    let hasWaited = (): void => undefined;
    const firstWait = new Promise<void>((done) => (hasWaited = done));
    const ran = runMigrations({ url }, storage, new Timers(), (name) => {
      waiting.push(name);
      hasWaited();
    });
    await firstWait;
    await request.query(`SET lock_timeout = ${storage.lockTimeoutMs}`);
    while (waiting.length < 3) {
      await request.query('SELECT 1 FROM audit_event LIMIT 1');
    }
    expect(new Set(waiting)).toEqual(new Set([DETAILS]));
    await backup.query('COMMIT');
    expect(await ran).toContain(DETAILS);
    await Promise.all([backup.end(), request.end()]);
  });

  describe('that loses connections', () => {
    const maintenance = process.env['TEST_DATABASE_URL'] ?? null;

    /** Starts a migration, and returns it once it waits for the transaction of a backup. */
    async function startBlocked() {
      const { url } = database;
      await runMigrations({ url }, storage);
      await revertTo(url, DETAILS);
      const backup = new Client(url);
      backup.on('error', () => undefined);
      await backup.connect();
      await backup.query('BEGIN');
      await backup.query('SELECT 1 FROM audit_event LIMIT 1');
      const ran = runMigrations({ url }, storage);
      ran.catch(() => undefined);
      await waitFor('the migration waits for the lock', async () => {
        // The transaction would see the same activity each time.
        await backup.query('SELECT pg_stat_clear_snapshot()');
        const { rowCount } = await backup.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rowCount === 1;
      });
      return { ran, backup };
    }

    const cut = (where: string): Promise<unknown> =>
      runSql(
        maintenance,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameOf(database)}' AND ${where}`,
      );

    it('reports the loss, and not the failure of what it tries then', async () => {
      const { ran } = await startBlocked();
      await runSql(maintenance, `ALTER DATABASE "${nameOf(database)}" ALLOW_CONNECTIONS false`);
      await cut(`application_name = 'gatehouse'`);
      await expect(ran).rejects.toThrow('terminating connection due to administrator command');
    });

    it('succeeds where only the connection with its lock is lost', async () => {
      const { ran, backup } = await startBlocked();
      await cut(`query LIKE '%pg_try_advisory%'`);
      await backup.end();
      expect(await ran).toContain(DETAILS);
    });
  });

  it('runs each migration once for three processes behind a pooler in transaction mode', async () => {
    const pooler = await startPgBouncer(database.url);
    const { url } = pooler;
    const ran = await Promise.all([1, 2, 3].map(() => runMigrations({ url }, storage)));
    expect(ran.map(({ length }) => length).sort()).toEqual([0, 0, 11]);
    // A lock of a session would stay with a connection of the pooler.
    expect(await runMigrations({ url: database.url }, storage)).toEqual([]);
    await pooler.stop();
  });
});

const nameOf = ({ url }: TestDatabase): string => new URL(url).pathname.slice(1);

/** Reverts the migrations from `name` on. */
async function revertTo(url: string, name: string): Promise<void> {
  const source = new DataSource({ ...dataSourceOptions(storage), url });
  await source.initialize();
  const names = source.migrations.map((migration) => migration.name);
  for (let left = names.length - names.indexOf(name); left > 0; left -= 1) {
    await source.undoLastMigration({ transaction: 'each' });
  }
  await source.destroy();
}
