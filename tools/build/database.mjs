import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { PGlite } from '@electric-sql/pglite';

/** The best, 11, would take twenty times as long for a seventh less. */
const QUALITY = 9;

/**
 * The data directory that the first start with the embedded database begins with: `bin/embedded-database.br`,
 * which src/storage/database-template.ts unpacks. The programs have to be built before.
 *
 * @param {{ root: string, work: string }} folders
 */
export async function buildDatabase({ root, work }) {
  const dataDir = await mkdtemp(join(work, 'data-'));
  await makeDatabase(root, dataDir);
  await makeSmaller(dataDir);
  await mkdir(join(work, 'bin'));
  await writeFile(join(work, 'bin/embedded-database.br'), await pack(join(dataDir, 'db')));
  await rm(dataDir, { recursive: true });
}

/**
 * A data directory made from nothing: by PostgreSQL's own initdb, then the migrations.
 *
 * @param {string} root
 * @param {string} dataDir
 */
export async function makeDatabase(root, dataDir) {
  const { startEmbeddedDatabase } = await import(
    join(root, 'dist/storage/embedded/embedded-database.js')
  );
  const { runMigrations } = await import(join(root, 'dist/storage/data-source.js'));
  await withPglite(dataDir, async () => undefined);
  const database = await startEmbeddedDatabase({ dataDir });
  try {
    await runMigrations(database.address, { connectTimeoutMs: 120_000 });
  } finally {
    await database.stop();
  }
}

/** Half of the files are databases to copy, and most of the log is about the way here. */
async function makeSmaller(dataDir) {
  await withPglite(dataDir, async (database) => {
    await database.exec('UPDATE pg_database SET datistemplate = false');
    await database.exec('DROP DATABASE template0');
    await database.exec('DROP DATABASE template1');
    await database.exec('SET wal_recycle = off; SELECT pg_switch_wal(); CHECKPOINT');
  });
}

async function withPglite(dataDir, work) {
  const database = await PGlite.create({ dataDir: join(dataDir, 'db') });
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

/** The archive that src/storage/database-template.ts describes. */
async function pack(directory) {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = (wanted) =>
    wanted.map((one) => join(one.parentPath, one.name).slice(directory.length + 1)).sort();
  const places = new Map();
  const parts = [];
  let end = 0;
  const files = [];
  for (const path of paths(entries.filter((entry) => entry.isFile()))) {
    const content = await readFile(join(directory, path));
    const key = content.toString('latin1');
    if (!places.has(key)) {
      places.set(key, end);
      parts.push(content);
      end += content.length;
    }
    files.push({ path, at: places.get(key), size: content.length });
  }
  const directories = paths(entries.filter((entry) => entry.isDirectory()));
  const head = Buffer.from(JSON.stringify({ directories, files }));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  const whole = Buffer.concat([length, head, ...parts]);
  return promisify(brotliCompress)(whole, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: whole.length,
    },
  });
}
