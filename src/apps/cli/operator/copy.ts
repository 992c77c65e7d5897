import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { AppError } from '../../../common/errors.js';
import { Random } from '../../../common/runtime/random.js';
import { resolveSettings } from '../../../server/config/resolve-settings.js';
import { laterMigrations, pendingMigrations } from '../../../server/storage/data-source.js';
import {
  DatabaseCopy,
  TargetNotEmptyError,
  type CopiedTable,
  type CopyProgress,
} from '../../../server/storage/database-copy.js';
import { DatabaseService, type SqlRunner } from '../../../server/storage/database.service.js';
import { startEmbeddedDatabase } from '../../../server/storage/embedded/embedded-database.js';
import {
  loadMasterSecret,
  MasterKeys,
  masterSecretPath,
} from '../../../server/storage/sealing/master-keys.js';
import { openSealedValues } from '../../../server/storage/sealing/opened-values.js';
import { SealedBoxService } from '../../../server/storage/sealing/sealed-box.service.js';
import type { ServerDataSource } from '../../../server/storage/server-data-source.js';
import type { CliContext } from '../command.js';
import { configurationError, refusedError, unreachableError } from '../cli-error.js';
import { mapErrors, requireDatabase, withDataSource } from './database.js';

type Context = CliContext<{ readonly fromDataDir?: string }>;

/** For a count or a batch of a large table: the limit of the variables is one for requests. */
const STATEMENT_LIMIT_MS = 600_000;
const LOCK_NOT_AVAILABLE = '55P03';
const PARTS_OF_PROGRESS = 10;

interface Copied {
  readonly tables: readonly CopiedTable[];
  readonly sealed: number;
}

export async function run(context: Context): Promise<void> {
  const dataDir = resolve(context.options.fromDataDir ?? '');
  requireDatabase(dataDir, 'Give the SERVICE_DATA_DIR of the server.');
  const { settings, ownSecretFile } = settingsOf(context, dataDir);
  const { storage } = settings;
  const { databaseUrl: url, caBundle, masterSecret, masterSecretsPrevious } = storage;
  if (url === null || masterSecret === null) {
    throw configurationError(
      'This command needs DATABASE_URL: the database to copy to.',
      'no-database',
    );
  }
  const box = new SealedBoxService(
    new MasterKeys(masterSecret, masterSecretsPrevious),
    new Random(),
  );
  const limits = { storage: { ...storage, statementTimeoutMs: STATEMENT_LIMIT_MS } };
  const copied = await withDataSource({ url, caBundle }, limits, async (target) => {
    await requireThisSchema(target, 'database of DATABASE_URL', 'Run: gatehouse migrate');
    const embedded = await mapErrors(startEmbeddedDatabase({ dataDir }));
    try {
      return await withDataSource(embedded.address, limits, async (source) => {
        await requireThisSchema(source, 'embedded database', 'Start the server on it once.');
        return copy(context, source, target, box);
      });
    } finally {
      await embedded.stop();
    }
  });
  context.output.result(
    {
      tables: Object.fromEntries(copied.tables.map(({ table, rows }) => [table, rows])),
      sealed: copied.sealed,
    },
    summaryOf(copied, dataDir, ownSecretFile),
  );
  await warnAboutSessions(context, [masterSecret, ...masterSecretsPrevious], dataDir);
}

function summaryOf({ tables, sealed }: Copied, dataDir: string, secretFile: string | null): string {
  const counts = tables.flatMap(({ table, rows }) => (rows > 0 ? [`${rows} ${table}`] : []));
  return [
    `Copied: ${counts.join(', ') || 'no rows'}. The master secret opens ${sealed} sealed values.`,
    'Start the server with these variables:',
    '  DATABASE_URL           as for this command',
    `  SERVICE_MASTER_SECRET  ${secretFile === null ? 'as for this command' : `the text in ${secretFile}`}`,
    '  SERVICE_DATA_DIR       none: it is not used with DATABASE_URL',
    `${dataDir} is unchanged. Keep it until the server has served from PostgreSQL, and start no server on it.`,
  ].join('\n');
}

/** Tokens are signed with the master secret, so that sessions may end where all values open. */
async function warnAboutSessions(
  { output }: Context,
  secrets: readonly string[],
  dataDir: string,
): Promise<void> {
  const hasOwn = existsSync(masterSecretPath(dataDir));
  if (hasOwn && !secrets.includes(await loadMasterSecret(dataDir, new Random()))) {
    output.note(
      `The master secret of this command is not the one in ${dataDir}. If the server used that one, ` +
        'all sessions end: add it to SERVICE_MASTER_SECRET_PREVIOUS.',
    );
  }
}

/**
 * Without its own master secret, the target gets that of the directory: `ownSecretFile`.
 *
 * @throws CliError `master-secret-missing` if there is neither
 */
function settingsOf({ environment }: Context, dataDir: string) {
  const file = masterSecretPath(dataDir);
  const isGiven = ['SERVICE_MASTER_SECRET', 'SERVICE_MASTER_SECRET_FILE'].some(
    (name) => (environment[name] ?? '') !== '',
  );
  if (!isGiven && !existsSync(file)) {
    throw configurationError(
      `There is no ${file}, and SERVICE_MASTER_SECRET is not set.`,
      'master-secret-missing',
      'Set it as the server had it: a new secret opens nothing that is sealed.',
    );
  }
  const ownSecretFile = isGiven ? null : file;
  const secret = ownSecretFile !== null && { SERVICE_MASTER_SECRET_FILE: ownSecretFile };
  return { settings: resolveSettings({ ...environment, ...secret }).settings, ownSecretFile };
}

/** @throws CliError `schema-behind` or `schema-ahead` (exit code 4) */
async function requireThisSchema(
  source: ServerDataSource,
  name: string,
  hint: string,
): Promise<void> {
  const pending = await pendingMigrations(source);
  if (pending.length > 0) {
    const message = `The schema of the ${name} lacks ${pending.length} migration(s).`;
    throw unreachableError(message, 'schema-behind', hint);
  }
  const later = await laterMigrations(source);
  if (later.length > 0) {
    const message = `A later version migrated the ${name}: ${later.join(', ')}.`;
    const newer = 'Use that version of gatehouse for the copy.';
    throw unreachableError(message, 'schema-ahead', newer);
  }
}

async function copy(
  { output }: Context,
  source: ServerDataSource,
  target: ServerDataSource,
  box: SealedBoxService,
): Promise<Copied> {
  source.open(false);
  target.open(false);
  const database = new DatabaseService(source);
  output.note('Opening the sealed values of the embedded database.');
  const sealed = await countOpened(database, box);
  const verify = async (tx: SqlRunner): Promise<void> => {
    output.note('Opening the sealed values of the copy.');
    const copied = await countOpened(tx, box);
    if (copied !== sealed) {
      throw new Error(`${sealed} values are sealed, and ${copied} of them are in the copy.`);
    }
  };
  const showProgress = (progress: CopyProgress): void => {
    if (isNextPart(progress)) {
      output.note(`${progress.table}: ${progress.rows} of ${progress.total}`);
    }
  };
  const tables = await translated(new DatabaseCopy(database, target).run(verify, showProgress));
  return { tables, sealed };
}

/** @throws CliError `master-secret-missing` if a value does not open */
async function countOpened(runner: SqlRunner, box: SealedBoxService): Promise<number> {
  const { opened, unreadable } = await openSealedValues(runner, box);
  if (unreadable > 0) {
    throw refusedError(
      `No master secret opens ${unreadable} of ${opened + unreadable} sealed values.`,
      'master-secret-missing',
      'Set SERVICE_MASTER_SECRET and SERVICE_MASTER_SECRET_PREVIOUS as the server had them.',
    );
  }
  return opened;
}

async function translated<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof TargetNotEmptyError) {
      throw refusedError(
        `The database of DATABASE_URL cannot be used. ${error.message}.`,
        'target-not-empty',
        'Create an empty database for the copy, and run there: gatehouse migrate',
      );
    }
    const cause: unknown = error instanceof AppError ? error.cause : null;
    if (cause instanceof Error && 'code' in cause && cause.code === LOCK_NOT_AVAILABLE) {
      throw unreachableError(
        'Another program uses the tables of the database of DATABASE_URL.',
        'target-in-use',
        'Stop the servers on it. After a copy that was killed, try again in a minute.',
      );
    }
    throw error;
  }
}

/** Limits the lines of a large table to one for each tenth. */
function isNextPart({ rows, batch, total }: CopyProgress): boolean {
  const part = (count: number): number => Math.floor((count * PARTS_OF_PROGRESS) / total);
  return part(rows) > part(rows - batch);
}
