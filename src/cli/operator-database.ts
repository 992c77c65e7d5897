import { Redis } from 'ioredis';
import { resolveSettings } from '../config/resolve-settings.js';
import type { Settings } from '../config/settings.js';
import { AccountAdminRepository } from '../storage/account-admin.repository.js';
import { AuditRepository } from '../storage/audit.repository.js';
import { createDataSource } from '../storage/data-source.js';
import { Database } from '../storage/database.js';
import { operatorChannel } from '../storage/redis-connections.js';
import { CliError } from './cli-error.js';
import type { CliContext } from './context.js';
import { EXIT } from './exit-codes.js';
import { requireSchema } from './require-schema.js';

/** What an operator's command works on: the server's own database, with the server's variables. */
export interface OperatorDatabase {
  readonly settings: Settings;
  readonly accounts: AccountAdminRepository;
  readonly audit: AuditRepository;
}

/** @throws CliError when there is no external database, or it does not answer */
export async function withDatabase<Result>(
  { environment }: CliContext,
  work: (database: OperatorDatabase) => Promise<Result>,
): Promise<Result> {
  const { settings } = resolveSettings(environment);
  const { databaseUrl: url } = settings.storage;
  if (url === null) {
    throw new CliError('This command needs DATABASE_URL.', {
      exitCode: EXIT.configuration,
      code: 'no-database',
      hint: 'The embedded database belongs to the running server alone.',
    });
  }
  const source = createDataSource({ url }, { ...settings.storage, poolSize: 1 });
  await source.initialize().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : '';
    throw new CliError(`The database cannot be used: ${message}.`, {
      exitCode: EXIT.unreachable,
      code: 'database-unavailable',
      hint: 'Check DATABASE_URL, and that the database runs.',
    });
  });
  try {
    await requireSchema(source);
    const database = new Database();
    database.open(source, false);
    return await work({
      settings,
      accounts: new AccountAdminRepository(database),
      audit: new AuditRepository(database),
    });
  } finally {
    await source.destroy();
  }
}

/** A change that running servers should hear of, in the shape of the operator channel. */
export type OperatorMessage =
  | { readonly accountId: string; readonly closes?: 'account-disabled' | 'token-revoked' }
  | { readonly isDue: true };

/** Tells running servers. @returns in words, when they know */
export async function tellServers(settings: Settings, message: OperatorMessage): Promise<string> {
  const later = laterWords(settings, message);
  const { redisUrl } = settings.storage;
  if (redisUrl === null) {
    return `Without REDIS_URL running servers cannot be told: ${later}`;
  }
  const redis = new Redis(redisUrl, { lazyConnect: true, maxRetriesPerRequest: 0 });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const count = await redis.publish(operatorChannel(redis), JSON.stringify(message));
    return count === 0
      ? 'No running server listens.'
      : `Running servers were told (${count}): it takes effect now.`;
  } catch {
    return `Redis does not answer, so running servers were not told: ${later}`;
  } finally {
    redis.disconnect();
  }
}

function laterWords({ auth }: Settings, message: OperatorMessage): string {
  return 'isDue' in message
    ? 'they look for due identities every few seconds.'
    : `requests and live connections notice within ${auth.accessCacheMs / 1000} seconds (AUTH_ACCESS_CACHE_SECONDS).`;
}
