import type { DataSource, MigrationInterface } from 'typeorm';
import type { StorageSettings } from '../config/settings.js';
import { createDataSource, MIGRATIONS_TABLE, type DatabaseAddress } from './data-source.js';

/** Any number, the same in every release: one migrator at a time per database. */
const ADVISORY_LOCK = 7_326_402_911;

/** A migration may run for as long as it needs. */
const WITHOUT_LIMITS = { statementTimeoutMs: 0, lockTimeoutMs: 0, poolSize: 2 };

/** Names of this program's migrations that the database has not run yet, oldest first. */
export async function pendingMigrations(source: DataSource): Promise<string[]> {
  const [found] = await source.query<{ name: string | null }[]>('SELECT to_regclass($1) AS name', [
    MIGRATIONS_TABLE,
  ]);
  const applied = found?.name
    ? await source.query<{ name: string }[]>(`SELECT name FROM "${MIGRATIONS_TABLE}"`)
    : [];
  const names = new Set(applied.map((row) => row.name));
  return source.migrations.map(nameOf).filter((name) => !names.has(name));
}

/**
 * Runs what is pending, each migration in its own transaction, one migrator at a time.
 *
 * @returns the names that this call ran
 */
export async function runMigrations(
  address: DatabaseAddress,
  settings: StorageSettings,
): Promise<string[]> {
  const source = createDataSource(address, { ...settings, ...WITHOUT_LIMITS });
  await source.initialize();
  const lock = source.createQueryRunner();
  try {
    await lock.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCK]);
    const ran = await source.runMigrations({ transaction: 'each' });
    await lock.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCK]);
    return ran.map((migration) => migration.name);
  } finally {
    await lock.release();
    await source.destroy();
  }
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}
