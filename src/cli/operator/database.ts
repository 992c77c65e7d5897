import { stat } from 'node:fs/promises';
import { resolveSettings } from '../../config/resolve-settings.js';
import type { Settings } from '../../config/settings.js';
import {
  dataSourceOptions,
  pendingMigrations,
  withAddress,
  type DatabaseAddress,
} from '../../storage/data-source.js';
import { DataDirectoryInUseError } from '../../storage/embedded/data-directory.js';
import { startEmbeddedDatabase } from '../../storage/embedded/embedded-database.js';
import { openOperatorStorage, type OperatorStorage } from '../../storage/operator-storage.js';
import { ContentAtRest } from '../../storage/sealing/content-at-rest.js';
import { loadMasterSecret, MasterKeys } from '../../storage/sealing/master-keys.js';
import { Reseal } from '../../storage/sealing/reseal.js';
import { SealedBox } from '../../storage/sealing/sealed-box.js';
import { ServerDataSource } from '../../storage/server-data-source.js';
import type { CliContext } from '../command.js';
import { CliError, EXIT } from '../cli-error.js';

/** The server's own database, opened with the server's variables. */
export interface OperatorDatabase extends OperatorStorage {
  readonly settings: Settings;
}

/** @throws CliError when there is no external database, it is unreachable or its schema is older */
export async function withDatabase<Result>(
  { environment }: CliContext,
  work: (database: OperatorDatabase) => Promise<Result>,
): Promise<Result> {
  const { settings } = resolveSettings(environment);
  const { databaseUrl: url, caBundle } = settings.storage;
  if (url === null) {
    throw new CliError('This command needs DATABASE_URL.', {
      exitCode: EXIT.configuration,
      code: 'no-database',
      hint: 'Only the running server can use the embedded database.',
    });
  }
  return withCurrentSchema({ url, caBundle }, settings, (storage) =>
    work({ settings, ...storage }),
  );
}

/** Opens the server's database to reseal it; the embedded one only while no server runs on it. */
export async function withReseal<Result>(
  { environment }: CliContext,
  work: (reseal: Reseal) => Promise<Result>,
): Promise<Result> {
  const { settings } = resolveSettings(environment);
  const { storage } = settings;
  const reseal = async ({ database }: OperatorStorage): Promise<Result> => {
    const secret = storage.masterSecret ?? (await loadMasterSecret(storage.dataDir));
    const box = new SealedBox(new MasterKeys(secret, storage.masterSecretsPrevious));
    return work(new Reseal(database, box, new ContentAtRest(box, settings.encryption)));
  };
  const { databaseUrl: url, caBundle, dataDir } = storage;
  if (url !== null) {
    return withCurrentSchema({ url, caBundle }, settings, reseal);
  }
  await requireDirectory(dataDir);
  const embedded = await mapErrors(startEmbeddedDatabase({ dataDir }));
  try {
    return await withCurrentSchema(embedded.address, settings, reseal);
  } finally {
    await embedded.stop();
  }
}

/**
 * Runs `work` with one connection.
 *
 * @throws CliError `database-unavailable` or `database-in-use` (exit code 4)
 */
export async function withDataSource<Result>(
  address: DatabaseAddress,
  { storage }: Pick<Settings, 'storage'>,
  work: (source: ServerDataSource) => Promise<Result>,
): Promise<Result> {
  const options = dataSourceOptions({ ...storage, poolSize: 1 });
  const source = new ServerDataSource(withAddress(options, address));
  await mapErrors(source.initialize());
  try {
    return await work(source);
  } finally {
    await source.destroy();
  }
}

function withCurrentSchema<Result>(
  address: DatabaseAddress,
  settings: Settings,
  work: (storage: OperatorStorage) => Promise<Result>,
): Promise<Result> {
  return withDataSource(address, settings, async (source) => {
    const pending = await pendingMigrations(source);
    if (pending.length > 0) {
      throw new CliError(`The database lacks ${pending.length} migration(s).`, {
        exitCode: EXIT.unreachable,
        code: 'schema-behind',
        hint: 'Run: gatehouse migrate (an embedded database: start the server once).',
      });
    }
    return work(openOperatorStorage(source));
  });
}

/** Starting the embedded database would create a missing directory, with a new master secret. */
async function requireDirectory(dataDir: string): Promise<void> {
  const isThere = await stat(dataDir).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere) {
    throw new CliError(`There is no embedded database in ${dataDir}.`, {
      exitCode: EXIT.configuration,
      code: 'no-database',
      hint: 'Set DATABASE_URL, or SERVICE_DATA_DIR, as the server has them.',
    });
  }
}

/** Errors of the connection, not of a statement, as a CliError (exit code 4). */
export async function mapErrors<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const isSqlState = /^[0-9A-Z]{5}$/.test(code);
    const isOther = isSqlState && !/^(08|28|3D|53|57)/.test(code);
    if (error instanceof CliError || isOther) {
      throw error;
    }
    const message = error instanceof Error && error.message !== '' ? error.message : code;
    const isInUse = error instanceof DataDirectoryInUseError;
    throw new CliError(`The database cannot be used: ${message.replace(/\.$/, '')}.`, {
      exitCode: EXIT.unreachable,
      code: isInUse ? 'database-in-use' : 'database-unavailable',
      hint: isInUse
        ? 'One process at a time can use the embedded database: stop the server for this.'
        : 'Check DATABASE_URL, and that the database runs.',
    });
  }
}
