import { resolveSettings } from '../../config/resolve-settings.js';
import type { StorageSettings } from '../../config/settings.js';
import { createDataSource } from '../../storage/data-source.js';
import { pendingMigrations, runMigrations } from '../../storage/migrations.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';

/** Brings the external database to this version's schema, or says what would be done. */
export async function run(context: CliContext): Promise<number> {
  const { storage } = resolveSettings(context.environment).settings;
  if (storage.databaseUrl === null) {
    context.output.result(
      { embedded: true, pending: [] },
      `No DATABASE_URL: the embedded database in ${storage.dataDir} is migrated whenever the server starts.`,
    );
    return EXIT.ok;
  }
  const { check = false, plan = false } = context.options;
  return check || plan
    ? showPending(context, storage.databaseUrl, storage)
    : migrate(context, storage.databaseUrl, storage);
}

async function migrate(
  { output }: CliContext,
  url: string,
  storage: StorageSettings,
): Promise<number> {
  const ran = await reaching(() => runMigrations({ url }, storage));
  const words =
    ran.length === 0 ? ['Nothing to do: the schema matches.'] : ran.map((name) => `Ran ${name}`);
  output.result({ embedded: false, ran }, words.join('\n'));
  return EXIT.ok;
}

async function showPending(
  { output, options }: CliContext,
  url: string,
  storage: StorageSettings,
): Promise<number> {
  const pending = await reaching(() => readPending(url, storage));
  const words =
    pending.length === 0
      ? 'Nothing is pending: the schema matches.'
      : [...pending.map((name) => `Pending ${name}`), 'Run: gatehouse migrate'].join('\n');
  output.result({ embedded: false, pending }, words);
  return options.check === true && pending.length > 0 ? EXIT.migrationsPending : EXIT.ok;
}

async function readPending(url: string, storage: StorageSettings): Promise<string[]> {
  const source = createDataSource({ url }, { ...storage, poolSize: 1 });
  await source.initialize();
  try {
    return await pendingMigrations(source);
  } finally {
    await source.destroy();
  }
}

/** A database that cannot be reached is the network's or the address's fault, not the schema's. */
async function reaching<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (isSqlState(code) && !/^(08|28|3D|53|57)/.test(code)) {
      throw error;
    }
    const message = error instanceof Error ? error.message : '';
    throw new CliError(`The database cannot be used: ${message === '' ? code : message}.`, {
      exitCode: EXIT.unreachable,
      code: 'database-unavailable',
      hint: 'Check DATABASE_URL, and that the database runs.',
    });
  }
}

function isSqlState(code: string): boolean {
  return /^[0-9A-Z]{5}$/.test(code);
}
