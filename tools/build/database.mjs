import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';

/**
 * Writes `bin/embedded-database.tar.gz`, the migrated database that
 * src/server/storage/database-template.ts loads at the first start with the embedded database. Requires
 * the programs.
 *
 * @param {{ root: string, work: string }} folders
 */
export async function buildDatabase({ root, work }) {
  const dataDir = await mkdtemp(join(work, 'data-'));
  await makeDatabase(root, dataDir);
  await mkdir(join(work, 'bin'));
  const archive = join(work, 'bin/embedded-database.tar.gz');
  await withPglite(dataDir, async (database) => {
    await makeSmaller(database);
    await writeFile(archive, Buffer.from(await (await database.dumpDataDir('gzip')).arrayBuffer()));
  });
  await rm(dataDir, { recursive: true });
}

/** Creates a data directory with PostgreSQL's own initdb and the migrations. */
export async function makeDatabase(root, dataDir) {
  const { startEmbeddedDatabase } = await import(
    join(root, 'dist/server/storage/embedded/embedded-database.js')
  );
  const { runMigrations } = await import(join(root, 'dist/server/storage/data-source.js'));
  await withPglite(dataDir, async () => undefined);
  const database = await startEmbeddedDatabase({ dataDir });
  try {
    await runMigrations(database.address, { connectTimeoutMs: 120_000 });
  } finally {
    await database.stop();
  }
}

/** Half of the files are template databases, and most of the write-ahead log is of the migrations. */
async function makeSmaller(database) {
  await database.exec('UPDATE pg_database SET datistemplate = false');
  await database.exec('DROP DATABASE template0');
  await database.exec('DROP DATABASE template1');
  await database.exec('SET wal_recycle = off; SELECT pg_switch_wal(); CHECKPOINT');
}

async function withPglite(dataDir, work) {
  const database = await PGlite.create({ dataDir: join(dataDir, 'db') });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}
