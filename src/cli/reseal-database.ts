import { stat } from 'node:fs/promises';
import { resolveSettings } from '../config/resolve-settings.js';
import type { Settings } from '../config/settings.js';
import { ContentAtRest } from '../storage/content-at-rest.js';
import { DataDirectoryInUseError } from '../storage/data-directory.js';
import { createDataSource, type DatabaseAddress } from '../storage/data-source.js';
import { Database } from '../storage/database.js';
import { startEmbeddedDatabase } from '../storage/embedded-database.js';
import { MasterKeys } from '../storage/master-keys.js';
import { loadMasterSecret } from '../storage/master-secret.js';
import { Reseal } from '../storage/reseal.js';
import { SealedBox } from '../storage/sealed-box.js';
import { CliError } from './cli-error.js';
import type { CliContext } from './context.js';
import { EXIT } from './exit-codes.js';
import { requireSchema } from './require-schema.js';

/** Opens the server's database, the embedded one too while no server runs on it, with its seals. */
export async function withReseal<Result>(
  { environment }: CliContext,
  work: (reseal: Reseal) => Promise<Result>,
): Promise<Result> {
  const { settings } = resolveSettings(environment);
  const { databaseUrl: url } = settings.storage;
  if (url !== null) {
    return withAddress({ url }, settings, work);
  }
  const { dataDir } = settings.storage;
  await requireDirectory(dataDir);
  const embedded = await reaching(startEmbeddedDatabase({ dataDir }));
  try {
    return await withAddress(embedded.address, settings, work);
  } finally {
    await embedded.stop();
  }
}

async function withAddress<Result>(
  address: DatabaseAddress,
  settings: Settings,
  work: (reseal: Reseal) => Promise<Result>,
): Promise<Result> {
  const { storage } = settings;
  const source = createDataSource(address, { ...storage, poolSize: 1 });
  await reaching(source.initialize());
  try {
    await requireSchema(source);
    const database = new Database();
    database.open(source, false);
    const secret = storage.masterSecret ?? (await loadMasterSecret(storage.dataDir));
    const box = new SealedBox(new MasterKeys(secret, storage.masterSecretsPrevious));
    return await work(new Reseal(database, box, new ContentAtRest(box, settings)));
  } finally {
    await source.destroy();
  }
}

/** A directory that is not there would be made, with a master secret of its own. */
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

async function reaching<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const isInUse = error instanceof DataDirectoryInUseError;
    throw new CliError(`The database cannot be used: ${message}`, {
      exitCode: EXIT.unreachable,
      code: isInUse ? 'database-in-use' : 'database-unavailable',
      hint: isInUse
        ? 'The embedded database has room for one process: stop the server for this.'
        : 'Check DATABASE_URL, and that the database runs.',
    });
  }
}
