import { isUnavailable } from '../../../common/errors.js';
import { Random } from '../../../common/runtime/random.js';
import { resolveSettings } from '../../../server/config/resolve-settings.js';
import type { Settings } from '../../../server/config/settings.js';
import {
  dataSourceOptions,
  pendingMigrations,
  withAddress,
  type DatabaseAddress,
} from '../../../server/storage/data-source.js';
import {
  DataDirectoryInUseError,
  foreignOwner,
  holdsDatabase,
} from '../../../server/storage/embedded/data-directory.js';
import { startEmbeddedDatabase } from '../../../server/storage/embedded/embedded-database.js';
import {
  openOperatorStorage,
  openSigningKeys,
  type OperatorStorage,
} from '../../../server/storage/operator-storage.js';
import type { SigningKeyRepository } from '../../../server/storage/repositories/oauth/signing-key.repository.js';
import { ContentAtRestService } from '../../../server/storage/sealing/content-at-rest.service.js';
import { loadMasterSecret, MasterKeys } from '../../../server/storage/sealing/master-keys.js';
import { Reseal } from '../../../server/storage/sealing/reseal.js';
import { SealedBoxService } from '../../../server/storage/sealing/sealed-box.service.js';
import { ServerDataSource } from '../../../server/storage/server-data-source.js';
import { failureMessage } from '../../../server/storage/storage-errors.js';
import type { CliContext } from '../command.js';
import { CliError, configurationError, unreachableError } from '../cli-error.js';

export interface OperatorDatabase extends OperatorStorage {
  readonly settings: Settings;
}

/** @throws CliError if no external database is configured, reachable and of this schema */
export async function withDatabase<Result>(
  { environment }: CliContext,
  work: (database: OperatorDatabase) => Promise<Result>,
  hint = 'Only the running server can use the embedded database.',
): Promise<Result> {
  const { settings } = resolveSettings(environment);
  const { databaseUrl: url, caBundle } = settings.storage;
  if (url === null) {
    throw configurationError('This command needs DATABASE_URL.', 'no-database', hint);
  }
  return withCurrentSchema({ url, caBundle }, settings, (storage) =>
    work({ settings, ...storage }),
  );
}

export interface SealedDatabase extends OperatorDatabase {
  readonly box: SealedBoxService;
  readonly signingKeys: SigningKeyRepository;
}

export function withReseal<Result>(
  context: CliContext,
  sealsPlain: boolean,
  work: (reseal: Reseal) => Promise<Result>,
): Promise<Result> {
  return withSealed(context, ({ database, box, settings }) => {
    const atRest = new ContentAtRestService(box, settings.encryption);
    return work(new Reseal(database, box, atRest, sealsPlain));
  });
}

/** Opens the server's database and its seals; an embedded one only while no server uses it. */
export async function withSealed<Result>(
  { environment }: CliContext,
  work: (sealed: SealedDatabase) => Promise<Result>,
): Promise<Result> {
  const { settings } = resolveSettings(environment);
  const { storage } = settings;
  const open = async (opened: OperatorStorage, source: ServerDataSource): Promise<Result> => {
    const random = new Random();
    const secret = storage.masterSecret ?? (await loadMasterSecret(storage.dataDir, random));
    const box = new SealedBoxService(new MasterKeys(secret, storage.masterSecretsPrevious), random);
    const signingKeys = openSigningKeys(source, opened.database, box, random);
    return work({ ...opened, settings, box, signingKeys });
  };
  const { databaseUrl: url, caBundle, dataDir } = storage;
  if (url !== null) {
    return withCurrentSchema({ url, caBundle }, settings, open);
  }
  requireDatabase(dataDir);
  const embedded = await mapErrors(startEmbeddedDatabase({ dataDir }));
  try {
    return await withCurrentSchema(embedded.address, settings, open);
  } finally {
    await embedded.stop();
  }
}

/** @throws CliError `database-unavailable` or `database-in-use` (exit code 4); the failure of a statement as the database named it */
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
  } catch (error) {
    // The words for a request are about a server, and name no cause.
    const { lastFailure } = source;
    throw isUnavailable(error) && lastFailure !== null ? databaseError(lastFailure) : error;
  } finally {
    await source.destroy();
  }
}

function withCurrentSchema<Result>(
  address: DatabaseAddress,
  settings: Settings,
  work: (storage: OperatorStorage, source: ServerDataSource) => Promise<Result>,
): Promise<Result> {
  return withDataSource(address, settings, async (source) => {
    const pending = await pendingMigrations(source);
    if (pending.length > 0) {
      throw unreachableError(
        `The database lacks ${pending.length} migration(s).`,
        'schema-behind',
        'Run: gatehouse migrate (an embedded database: start the server once).',
      );
    }
    return work(openOperatorStorage(source), source);
  });
}

/** Opening a missing database would create it. @throws CliError `no-database` or `wrong-user` */
export function requireDatabase(
  dataDir: string,
  hint = 'Set DATABASE_URL, or SERVICE_DATA_DIR, as the server has them.',
): void {
  if (!holdsDatabase(dataDir)) {
    throw configurationError(`There is no embedded database in ${dataDir}.`, 'no-database', hint);
  }
  const owner = foreignOwner(dataDir);
  if (owner !== null) {
    throw configurationError(
      `The embedded database in ${dataDir} belongs to the user ${owner}.`,
      'wrong-user',
      'Run this as that user: the server could not read the files that another one writes.',
    );
  }
}

/** @throws CliError `database-unavailable` or `database-in-use` (exit code 4) */
export async function mapErrors<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw databaseError(error);
  }
}

/** Maps errors of the connection, not of a statement, to a CliError (exit code 4). */
export function databaseError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const isSqlState = /^[0-9A-Z]{5}$/.test(code);
  const isOther = isSqlState && !/^(08|28|3D|53|57)/.test(code);
  if (error instanceof CliError || isOther) {
    return error;
  }
  const message = error instanceof Error && error.message !== '' ? failureMessage(error) : code;
  const isInUse = error instanceof DataDirectoryInUseError;
  return unreachableError(
    `The database cannot be used: ${message.replace(/\.$/, '')}.`,
    isInUse ? 'database-in-use' : 'database-unavailable',
    isInUse
      ? 'One process at a time can use the embedded database: stop the server for this.'
      : 'Check DATABASE_URL, and that the database runs.',
  );
}
