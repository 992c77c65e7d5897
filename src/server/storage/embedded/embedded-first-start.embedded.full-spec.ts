import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import {
  freshDataDirectory,
  type TestDataDirectory,
} from '../../../../test/fixtures/programs/data-directory-fixture.js';
import { startServer } from '../../../../test/fixtures/programs/server-fixture.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import { dataSourceOptions, pendingMigrations, runMigrations } from '../data-source.js';
import { loadDatabaseTemplate } from '../database-template.js';
import { DataDirectoryInUseError } from './data-directory.js';
import { type EmbeddedDatabase, startEmbeddedDatabase } from './embedded-database.js';

const ROOT = join(import.meta.dirname, '../../../..');
const { storage } = resolveSettings({}).settings;

const moduleOf = (path: string): string => JSON.stringify(pathToFileURL(join(ROOT, path)).href);

let directory: TestDataDirectory;
let dataDir: string;
beforeEach(async () => {
  directory = await freshDataDirectory();
  dataDir = directory.path;
});
afterEach(() => directory.remove());

describe('The first start with the embedded database', () => {
  it('has the schema and the rows of a database that is migrated from an empty one', async () => {
    const shipped = await contentOf(dataDir);
    const other = await freshDataDirectory();
    await node(
      `import { makeDatabase } from ${moduleOf('tools/build/database.mjs')};
       await makeDatabase(${JSON.stringify(ROOT)}, ${JSON.stringify(other.path)});`,
    );
    const made = await contentOf(other.path);
    await other.remove();
    expect(shipped.names).toEqual(made.names);
    expect(shipped.names).toEqual(
      expect.arrayContaining(['pg_catalog.pg_proc', 'public.account', 'public.schema_migration']),
    );
    for (const name of made.names) {
      expect([name, shipped.rows.get(name)]).toEqual([name, made.rows.get(name)]);
    }
  });

  it('runs the migrations that are newer than the database of the build', async () => {
    await onDatabase(dataDir, async (database) => {
      expect(await runMigrations(database.address, storage)).toEqual([]);
      await onSource(database, async (source) => {
        await source.undoLastMigration({ transaction: 'each' });
        expect(await pendingMigrations(source)).toEqual([source.migrations.at(-1)?.name]);
      });
    });
    const env = {
      SERVICE_DATA_DIR: dataDir,
      SERVICE_MASTER_SECRET: 'of-no-value-that-is-stored-there',
    };
    const server = await startServer({ store: { databaseUrl: null, env, drop: directory.remove } });
    await server.stop();
    await onDatabase(dataDir, (database) =>
      onSource(database, async (source) => expect(await pendingMigrations(source)).toEqual([])),
    );
  });

  it('keeps everything to its owner', async () => {
    await loadDatabaseTemplate(join(dataDir, 'db'));
    const { mode } = await stat(join(dataDir, 'db'));
    expect((mode & 0o777).toString(8)).toBe('700');
  });

  it('serves one of ten simultaneous starts, and refuses the others', async () => {
    const starts = await Promise.allSettled(
      Array.from({ length: 10 }, () => startEmbeddedDatabase({ dataDir })),
    );
    const serving = starts.filter((start) => start.status === 'fulfilled');
    const reasons = starts.flatMap((start) => (start.status === 'rejected' ? [start.reason] : []));
    expect(serving).toHaveLength(1);
    expect(reasons.map((reason: unknown) => reason instanceof DataDirectoryInUseError)).toEqual(
      Array.from({ length: 9 }, () => true),
    );
    await Promise.all(serving.map(({ value }) => value.stop()));
    expect(await tablesOf(dataDir)).toContain('public.account');
  });

  it.each([
    ['before the first file', 'fs.writeFileSync', 1],
    ['between two files', 'fs.writeFileSync', 300],
    ['before the directory gets its name', 'fs.promises.rename', 1],
  ])('starts over when an earlier start was killed %s', async (_when, operation, count) => {
    const killed = node(
      `import fs from 'node:fs';
       import { syncBuiltinESMExports } from 'node:module';
       const real = ${operation};
       let left = ${count};
       ${operation} = (...parameters) => {
         left -= String(parameters[0]).includes('db.unfinished') ? 1 : 0;
         if (left === 0) process.kill(process.pid, 'SIGKILL');
         return real(...parameters);
       };
       syncBuiltinESMExports();
       ${loadIn(dataDir)}`,
    );
    await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' });
    expect(await readdir(dataDir)).toEqual(['db.unfinished']);
    expect(await tablesOf(dataDir)).toContain('public.account');
    expect(await readdir(dataDir)).not.toContain('db.unfinished');
  });

  it('leaves nothing on a full disk, reports it, and works once there is space', async () => {
    const full = promisify(execFile)('sh', [
      '-c',
      'ulimit -f 64 && exec "$0" --input-type=module -e "$1"',
      process.execPath,
      loadIn(dataDir),
    ]);
    await expect(full).rejects.toMatchObject({
      stderr: expect.stringMatching(
        /The embedded database \S+\/db cannot be made: .+ Check the free disk space\./,
      ) as string,
    });
    expect(await readdir(dataDir)).toEqual([]);
    await onDatabase(dataDir, () => Promise.resolve());
  });

  it('reports the free space of its disk where it does not start again', async () => {
    await onDatabase(dataDir, () => Promise.resolve());
    await writeFile(join(dataDir, 'db/global/pg_control'), '');
    await expect(startEmbeddedDatabase({ dataDir })).rejects.toThrow(
      /db does not start, with \d+ MiB free on its disk: ./,
    );
  });

  it('does not change existing files', async () => {
    await mkdir(join(dataDir, 'db'));
    await writeFile(join(dataDir, 'db/precious'), 'kept');
    await expect(startEmbeddedDatabase({ dataDir })).rejects.toThrow('ENOTEMPTY');
    expect(await readFile(join(dataDir, 'db/precious'), 'utf8')).toBe('kept');
    expect(existsSync(join(dataDir, 'db.unfinished'))).toBe(false);
  });
});

const loadIn = (path: string): string =>
  `const { loadDatabaseTemplate } = await import(${moduleOf('dist/server/storage/database-template.js')});
   await loadDatabaseTemplate(${JSON.stringify(join(path, 'db'))});`;

function node(script: string): Promise<unknown> {
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

async function onDatabase<Result>(
  path: string,
  work: (database: EmbeddedDatabase) => Promise<Result>,
): Promise<Result> {
  const database = await startEmbeddedDatabase({ dataDir: path });
  try {
    return await work(database);
  } finally {
    await database.stop();
  }
}

async function onSource(
  { address }: EmbeddedDatabase,
  work: (source: DataSource) => Promise<void>,
): Promise<void> {
  const source = new DataSource({ ...dataSourceOptions(storage), ...address });
  await source.initialize();
  await work(source);
  await source.destroy();
}

/** Columns that VACUUM and similar commands maintain. */
const NO_SCHEMA =
  /^(rel(pages|tuples|allvisible|allfrozen|frozenxid|minmxid)|dat(frozenxid|minmxid))$/;
/** Columns that contain samples of values, and features that the build does not have. */
const SKIPPED = ['pg_statistic', 'pg_database', 'pg_shdescription'];

interface Content {
  readonly names: readonly string[];
  readonly rows: ReadonlyMap<string, readonly string[]>;
}

async function withClient<Result>(
  path: string,
  work: (client: Client) => Promise<Result>,
): Promise<Result> {
  return onDatabase(path, async ({ address }) => {
    const client = new Client({ ...address, user: address.username });
    await client.connect();
    const result = await work(client);
    await client.end();
    return result;
  });
}

async function tableNames(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables
     where tablename <> all ($1) order by 1`,
    [SKIPPED],
  );
  return rows.map(({ name }) => name);
}

const tablesOf = (path: string): Promise<string[]> => withClient(path, tableNames);

/** Returns all rows of all tables, the catalogs of PostgreSQL included. */
function contentOf(path: string): Promise<Content> {
  return withClient(path, async (client) => {
    const names = await tableNames(client);
    const rows = new Map<string, string[]>();
    for (const name of names) {
      const all = await client.query<{ row: object }>(`select to_jsonb(t) as row from ${name} t`);
      const texts = all.rows.map(({ row }) =>
        JSON.stringify(Object.entries(row).filter(([column]) => !NO_SCHEMA.test(column))),
      );
      rows.set(name, texts.sort());
    }
    return { names, rows };
  });
}
