import { Client } from 'pg';
import { DataSource } from 'typeorm';
import {
  startPgBouncer,
  type TestDatabase,
} from '../../../test/fixtures/programs/services-fixture.js';
import { createEmptyDatabase } from '../../../test/fixtures/programs/store-fixture.js';
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
