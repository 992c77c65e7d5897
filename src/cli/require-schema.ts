import { pendingMigrations } from '../storage/migrations.js';
import { CliError } from './cli-error.js';
import { EXIT } from './exit-codes.js';

/** @throws CliError where the database is older than this program: nothing would be found in it */
export async function requireSchema(
  source: Parameters<typeof pendingMigrations>[0],
): Promise<void> {
  const pending = await pendingMigrations(source);
  if (pending.length > 0) {
    throw new CliError(`The database lacks ${pending.length} migration(s).`, {
      exitCode: EXIT.unreachable,
      code: 'schema-behind',
      hint: 'Run: gatehouse migrate (an embedded database: start the server once).',
    });
  }
}
