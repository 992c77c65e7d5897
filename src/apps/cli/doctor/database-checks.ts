import { statfs } from 'node:fs/promises';
import { Random } from '../../../common/runtime/random.js';
import type { Settings } from '../../../server/config/settings.js';
import { laterMigrations, pendingMigrations } from '../../../server/storage/data-source.js';
import { DatabaseService } from '../../../server/storage/database.service.js';
import {
  DataDirectoryInUseError,
  foreignOwner,
  holdsDatabase,
} from '../../../server/storage/embedded/data-directory.js';
import { startEmbeddedDatabase } from '../../../server/storage/embedded/embedded-database.js';
import { loadMasterSecret, MasterKeys } from '../../../server/storage/sealing/master-keys.js';
import { openSealedValues } from '../../../server/storage/sealing/opened-values.js';
import { SealedBoxService } from '../../../server/storage/sealing/sealed-box.service.js';
import { judgeStoredKeys, readStoredKeys } from '../../../server/storage/sealing/stored-keys.js';
import type { ServerDataSource } from '../../../server/storage/server-data-source.js';
import { withDataSource } from '../operator/database.js';
import { messageOf, resultsOf, type CheckResult } from './check-result.js';
import { checkStored, uncheckedStored } from './stored-checks.js';

type Settled = Pick<Settings, 'storage' | 'providers' | 'resourceServers' | 'auth'>;

const database = resultsOf('database');
const schema = resultsOf('schema');
const secret = resultsOf('master secret');
const clock = resultsOf('clock');
const disk = resultsOf('disk');

/** A busy database may answer later than the server's own limit for requests allows. */
const STATEMENT_LIMIT_MS = 10_000;
/** Opened values of each kind: reading all of a large database takes minutes. */
const SAMPLE = 100;

export function checkDatabase(settings: Settled): Promise<readonly CheckResult[]> {
  return settings.storage.databaseUrl === null
    ? checkEmbedded(settings)
    : checkExternal(settings, settings.storage.databaseUrl);
}

async function checkExternal(settings: Settled, url: string): Promise<readonly CheckResult[]> {
  const { storage } = settings;
  const limits = { storage: { ...storage, statementTimeoutMs: STATEMENT_LIMIT_MS } };
  const { masterSecret, caBundle } = storage;
  try {
    return await withDataSource({ url, caBundle }, limits, async (source) => {
      source.open(storage.preparedStatements);
      return [
        await checkServer(source),
        ...(await checkConnections(source, storage.poolSize)),
        ...(storage.preparedStatements
          ? await withDataSource({ url, caBundle }, limits, (other) => checkPooler(source, other))
          : []),
        ...(await checkRights(source)),
        ...(await checkContent(source, settings, () => Promise.resolve(masterSecret ?? ''))),
        await checkClock(source),
      ];
    });
  } catch (error) {
    return [database.failed(messageOf(error)), ...unchecked('The database does not answer.', true)];
  }
}

/** Opens the embedded database where no server uses it. */
async function checkEmbedded(settings: Settled): Promise<readonly CheckResult[]> {
  const { storage } = settings;
  const { dataDir } = storage;
  if (!holdsDatabase(dataDir)) {
    const reason = `There is no embedded database in ${dataDir} yet.`;
    return [database.skipped(reason), ...unchecked(reason)];
  }
  const owner = foreignOwner(dataDir);
  if (owner !== null) {
    const reason = `${dataDir} belongs to the user ${owner}: run this as that user.`;
    return [database.skipped(reason), ...unchecked(reason)];
  }
  try {
    const embedded = await startEmbeddedDatabase({ dataDir });
    try {
      return await withDataSource(embedded.address, { storage }, async (source) => {
        source.open(false);
        return [
          database.ok(`The embedded database in ${dataDir} opens.`),
          ...(await checkContent(source, settings, () => secretOf(storage))),
          clock.skipped('The embedded database has the clock of this machine.'),
        ];
      });
    } finally {
      await embedded.stop();
    }
  } catch (error) {
    if (error instanceof DataDirectoryInUseError) {
      const reason = 'The running server uses the embedded database: see its /readyz.';
      return [database.ok(`A running server uses ${dataDir}.`), ...unchecked(reason)];
    }
    return [database.failed(messageOf(error)), ...unchecked('The database does not open.')];
  }
}

async function secretOf({ masterSecret, dataDir }: Settings['storage']): Promise<string> {
  return masterSecret ?? (await loadMasterSecret(dataDir, new Random()));
}

function unchecked(reason: string, hasClock = false): readonly CheckResult[] {
  const results = [schema.skipped(reason), secret.skipped(reason), ...uncheckedStored(reason)];
  return hasClock ? [...results, clock.skipped(reason)] : results;
}

/** SQL_ASCII stores the bytes of any text. */
const STORE_UNICODE = ['UTF8', 'SQL_ASCII'];

/** A connection to a server that takes no writes is refused. */
async function checkServer(source: ServerDataSource): Promise<CheckResult> {
  const [row] = await source.query<{ version: string; encoding: string }[]>(
    `SELECT current_setting('server_version') AS "version", current_setting('server_encoding') AS "encoding"`,
  );
  const encoding = row?.encoding ?? '';
  return STORE_UNICODE.includes(encoding)
    ? database.ok(`PostgreSQL ${row?.version} answers, and takes writes.`)
    : database.failed(
        `Its encoding is ${encoding}: requests with other characters, such as names of people, are refused. ` +
          'Restore a backup into a database that is created with: createdb --encoding=UTF8 --template=template0',
      );
}

/**
 * Compares the pool of one server with what PostgreSQL admits: a request that gets no connection is answered with 503,
 * and the server counts as ready where it has some.
 */
async function checkConnections(
  source: ServerDataSource,
  poolSize: number,
): Promise<readonly CheckResult[]> {
  const [row] = await source.query<{ most: number }[]>(
    `SELECT least(
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
       (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user),
       (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database())) AS "most"`,
  );
  return row === undefined || row.most >= poolSize
    ? []
    : [
        database.warning(
          `A server opens up to ${poolSize} connections (SERVICE_DATABASE_POOL_SIZE), and the database admits ` +
            `${row.most} of this role: without a pooler in between, requests beyond them are answered with 503.`,
        ),
      ];
}

/**
 * Both connections prepare a statement: behind a pooler that does not know of it, the second finds it made, or the
 * first does where this was tried before.
 */
async function checkPooler(
  source: ServerDataSource,
  other: ServerDataSource,
): Promise<readonly CheckResult[]> {
  other.open(true);
  for (const one of [source, other]) {
    await one.query('SELECT $1::text', ['']);
  }
  return source.prepares && other.prepares
    ? []
    : [
        database.warning(
          'Its pooler does not keep prepared statements. Set SERVICE_DATABASE_PREPARED_STATEMENTS=false.',
        ),
      ];
}

/** The server changes rows of all tables, and migrations, which may have a role of their own, this one. */
const RIGHTS = `
  SELECT string_agg("relname", ', ' ORDER BY "relname") AS "lacking" FROM "pg_class"
  WHERE "relnamespace" = current_schema()::regnamespace AND "relkind" = 'r'
    AND "relname" <> 'schema_migration'
    AND NOT (has_table_privilege("oid", 'SELECT') AND has_table_privilege("oid", 'INSERT')
      AND has_table_privilege("oid", 'DELETE')
      AND ("relname" = 'audit_event' OR has_table_privilege("oid", 'UPDATE')))`;

async function checkRights(source: ServerDataSource): Promise<readonly CheckResult[]> {
  const [row] = await source.query<{ lacking: string | null }[]>(RIGHTS);
  const lacking = row?.lacking ?? null;
  return lacking === null
    ? []
    : [database.failed(`Its role may not read and change the rows of: ${lacking}.`)];
}

async function checkContent(
  source: ServerDataSource,
  settings: Settled,
  readSecret: () => Promise<string>,
): Promise<readonly CheckResult[]> {
  const { storage } = settings;
  const pending = await pendingMigrations(source);
  if (pending.length > 0) {
    const text = `It lacks ${pending.length} migration(s). Run: gatehouse migrate`;
    const embedded = `It lacks ${pending.length} migration(s), which the next start runs.`;
    return [
      storage.databaseUrl === null ? schema.warning(embedded) : schema.failed(text),
      secret.skipped('The schema is that of an earlier version.'),
      ...uncheckedStored('The schema is that of an earlier version.'),
    ];
  }
  const later = await laterMigrations(source);
  const matched =
    later.length > 0
      ? schema.warning(`A later version migrated it: ${later.join(', ')}.`)
      : schema.ok('It is that of this version.');
  const found = await readSecret().then(
    (text) => checkSecret(source, new MasterKeys(text, storage.masterSecretsPrevious)),
    (error: unknown) => secret.failed(messageOf(error)),
  );
  return [matched, found, ...(await checkStored(new DatabaseService(source), settings))];
}

/** Compares the key ids of all sealed values, and opens some. */
async function checkSecret(source: ServerDataSource, keys: MasterKeys): Promise<CheckResult> {
  const sql = new DatabaseService(source);
  const { counts, unknownKeyIds } = judgeStoredKeys(await readStoredKeys(sql), keys);
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total === 0) {
    return secret.ok('Nothing is sealed yet.');
  }
  if (counts.unknown > 0) {
    return secret.failed(
      `It does not open ${counts.unknown} of ${total} sealed values, which need the secret with the key id ` +
        `${unknownKeyIds.join(', ')}. Add it to SERVICE_MASTER_SECRET_PREVIOUS.`,
    );
  }
  const { opened, unreadable } = await openSealedValues(
    sql,
    new SealedBoxService(keys, new Random()),
    SAMPLE,
  );
  if (unreadable > 0) {
    return secret.failed(`Of ${opened + unreadable} sealed values, ${unreadable} are damaged.`);
  }
  return counts.previous > 0
    ? secret.warning(
        `Of ${total} sealed values, ${counts.previous} need SERVICE_MASTER_SECRET_PREVIOUS. ` +
          'Run: gatehouse reseal',
      )
    : secret.ok(`It opens the sealed values (${opened} tried).`);
}

const NOTABLE_SKEW_MS = 2000;
const LARGE_SKEW_MS = 30_000;

async function checkClock(source: ServerDataSource): Promise<CheckResult> {
  const before = Date.now();
  const [row] = await source.query<{ now: string }[]>(
    `SELECT extract(epoch FROM clock_timestamp()) * 1000 AS "now"`,
  );
  const after = Date.now();
  const at = Number(row?.now);
  // The database read its clock at some moment between the two.
  const skewMs = Math.max(before - at, at - after, 0);
  return judgeSkew(skewMs);
}

export function judgeSkew(skewMs: number): CheckResult {
  const text = `It differs from the clock of the database by ${(skewMs / 1000).toFixed(1)} seconds.`;
  if (skewMs > LARGE_SKEW_MS) {
    return clock.failed(`${text} Synchronise both (NTP).`);
  }
  return skewMs > NOTABLE_SKEW_MS
    ? clock.warning(`${text} Synchronise both (NTP).`)
    : clock.ok('It agrees with the clock of the database.');
}

const MEBIBYTE = 1024 * 1024;
const LITTLE_BYTES = 512 * MEBIBYTE;
/** PostgreSQL writes its log in segments of 16 MiB. */
const TOO_LITTLE_BYTES = 64 * MEBIBYTE;

export async function checkDisk({ storage }: Settled): Promise<readonly CheckResult[]> {
  const { databaseUrl, dataDir } = storage;
  if (databaseUrl !== null) {
    return [disk.skipped('The database is not embedded.')];
  }
  if (!holdsDatabase(dataDir)) {
    return [disk.skipped(`There is no embedded database in ${dataDir} yet.`)];
  }
  const { bavail, bsize } = await statfs(dataDir);
  return [judgeSpace(bavail * bsize, dataDir)];
}

export function judgeSpace(freeBytes: number, dataDir: string): CheckResult {
  const text = `${Math.floor(freeBytes / MEBIBYTE)} MiB are free for ${dataDir}.`;
  if (freeBytes < TOO_LITTLE_BYTES) {
    return disk.failed(text);
  }
  return freeBytes < LITTLE_BYTES ? disk.warning(text) : disk.ok(text);
}
