import pg from 'pg';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { pollUntil } from '../../common/runtime/poll-until.js';
import { Timers } from '../../common/runtime/timers.js';
import type { StorageSettings } from '../config/storage.config.js';
import { connectionOptions, connectionTo, type ExternalDatabase } from './database-connection.js';
import type { SqlRunner } from './database.service.js';
import { MIGRATIONS_TABLE, NamingStrategy } from './naming-strategy.js';
import { isLockTimeout } from './storage-errors.js';
import { AccountCredentialEntity } from './entities/account-credential.entity.js';
import { AccountEntity } from './entities/account.entity.js';
import { AgentRequestEntity, RequestAnswerEntity } from './entities/agent-request.entity.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';
import { DeviceAuthorizationEntity } from './entities/device-authorization.entity.js';
import { DeviceLookupMissEntity } from './entities/device-lookup-miss.entity.js';
import { DirectoryEntity, OrganizationEntity } from './entities/directory.entity.js';
import { DirectoryPersonEntity } from './entities/directory-person.entity.js';
import { EmailSignalEntity, IdentitySignalEntity } from './entities/identity-signal.entity.js';
import { EventAcknowledgementEntity, EventStreamEntity } from './entities/event-stream.entity.js';
import { IdentityEntity } from './entities/identity.entity.js';
import { InvitationEntity } from './entities/invitation.entity.js';
import {
  ClientAssertionEntity,
  ExternalFlowEntity,
  ExternalPendingEntity,
  LoginChallengeEntity,
  LogoutTokenEntity,
  WaitingSignOutEntity,
} from './entities/one-time.entity.js';
import { ProgramGrantEntity } from './entities/programs/program-grant.entity.js';
import { ProviderSignalEntity } from './entities/provider-signal.entity.js';
import { PushTokenEntity } from './entities/push-token.entity.js';
import { ResourceSessionEntity } from './entities/resource-session.entity.js';
import { SecurityEventEntity } from './entities/security-event.entity.js';
import { SessionEntity } from './entities/session.entity.js';
import { SignalStreamEntity } from './entities/signal-stream.entity.js';
import { SigningKeyEntity } from './entities/signing-key.entity.js';
import { Initial1764600000000 } from './migrations/1764600000000-initial.js';
import { Requests1764700000000 } from './migrations/1764700000000-requests.js';
import { SignalOrigins1764800000000 } from './migrations/1764800000000-signal-origins.js';
import { EmailSignals1764900000000 } from './migrations/1764900000000-email-signals.js';
import { EndedRefusals1765000000000 } from './migrations/1765000000000-ended-refusals.js';
import { RecycledNames1765110000000 } from './migrations/1765110000000-recycled-names.js';
import { Organizations1765150000000 } from './migrations/1765150000000-organizations.js';
import { EventCursors1765200000000 } from './migrations/1765200000000-event-cursors.js';
import { AuditDetails1765300000000 } from './migrations/1765300000000-audit-details.js';
import { ProgramGrants1765400000000 } from './migrations/1765400000000-program-grants.js';
import { UnacceptedGrants1765500000000 } from './migrations/1765500000000-unaccepted-grants.js';

export type DatabaseAddress =
  | ExternalDatabase
  | {
      readonly host: string;
      readonly port: number;
      readonly username: string;
      readonly database: string;
    };

/** Arbitrary, but the same in every release: one migrator at a time per database. */
const TRY_LOCK = 'SELECT pg_try_advisory_xact_lock(7326402911) AS "isOurs"';
/** Less than a request waits, and enough for PostgreSQL to cancel an automatic vacuum. */
const LOCK_WAIT_MS = 2000;
const LOCK_PAUSE_MS = 2000;

export const ENTITIES = [
  AccountCredentialEntity,
  AccountEntity,
  AgentRequestEntity,
  AuditEventEntity,
  ClientAssertionEntity,
  DeviceAuthorizationEntity,
  DeviceLookupMissEntity,
  DirectoryEntity,
  DirectoryPersonEntity,
  EmailSignalEntity,
  EventAcknowledgementEntity,
  EventStreamEntity,
  ExternalFlowEntity,
  ExternalPendingEntity,
  IdentityEntity,
  IdentitySignalEntity,
  InvitationEntity,
  LoginChallengeEntity,
  LogoutTokenEntity,
  OrganizationEntity,
  ProgramGrantEntity,
  ProviderSignalEntity,
  PushTokenEntity,
  RequestAnswerEntity,
  ResourceSessionEntity,
  SecurityEventEntity,
  SessionEntity,
  SignalStreamEntity,
  SigningKeyEntity,
  WaitingSignOutEntity,
];

export function dataSourceOptions(settings: StorageSettings): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    // Passed explicitly so that the bundler links it: TypeORM would look for it in node_modules.
    driver: pg,
    entities: ENTITIES,
    namingStrategy: new NamingStrategy(),
    migrations: [
      Initial1764600000000,
      Requests1764700000000,
      SignalOrigins1764800000000,
      EmailSignals1764900000000,
      EndedRefusals1765000000000,
      RecycledNames1765110000000,
      Organizations1765150000000,
      EventCursors1765200000000,
      AuditDetails1765300000000,
      ProgramGrants1765400000000,
      UnacceptedGrants1765500000000,
    ],
    migrationsTableName: MIGRATIONS_TABLE,
    migrationsTransactionMode: 'each',
    installExtensions: false,
    uuidExtension: 'pgcrypto',
    synchronize: false,
    logging: false,
    applicationName: 'gatehouse',
    poolSize: settings.poolSize,
    connectTimeoutMS: settings.connectTimeoutMs,
    extra: connectionOptions(settings),
    // The pool reports idle connections that broke; the next statement opens a new one.
    poolErrorHandler: () => undefined,
  };
}

export function withAddress(
  options: PostgresDataSourceOptions,
  address: DatabaseAddress,
): PostgresDataSourceOptions {
  if (!('url' in address)) {
    return { ...options, ...address };
  }
  const extra: unknown = options.extra;
  return { ...options, extra: { ...(extra as object), Client: connectionTo(address) } };
}

/** {@link dataSourceOptions} without a statement timeout, for migrations. */
export function migrationOptions(settings: StorageSettings): PostgresDataSourceOptions {
  const limits = { statementTimeoutMs: 0, lockTimeoutMs: LOCK_WAIT_MS, poolSize: 2 };
  // TypeORM would write a failed migration to standard output.
  return { ...dataSourceOptions({ ...settings, ...limits }), logger: 'debug' };
}

/** Runs statements before the server accepts any. */
export async function withPlainRunner<Result>(
  source: DataSource,
  work: (sql: SqlRunner) => Promise<Result>,
): Promise<Result> {
  const runner = source.driver.createQueryRunner('master');
  try {
    return await work({
      query: async <Row>(sql: string, parameters: readonly unknown[] = []) =>
        (await runner.query(sql, [...parameters])) as Row[],
    });
  } finally {
    await runner.release();
  }
}

/** Names of the migrations of this program that have not run on the database, oldest first. */
export async function pendingMigrations(source: DataSource): Promise<string[]> {
  const applied = new Set(await appliedMigrations(source));
  return source.migrations.map(nameOf).filter((name) => !applied.has(name));
}

/** Names of the migrations of a later version that have run on the database. */
export async function laterMigrations(source: DataSource): Promise<string[]> {
  const newest = Math.max(...source.migrations.map(nameOf).map(timestampOf));
  return (await appliedMigrations(source)).filter((name) => timestampOf(name) > newest);
}

function appliedMigrations(source: DataSource): Promise<string[]> {
  return withPlainRunner(source, async (sql) => {
    const rows = (text: string) => sql.query<{ name: string | null }>(text);
    const [found] = await rows(`SELECT to_regclass('${MIGRATIONS_TABLE}') AS name`);
    const applied = found?.name ? await rows(`SELECT name FROM "${MIGRATIONS_TABLE}"`) : [];
    return applied.flatMap(({ name }) => name ?? []);
  });
}

/**
 * Runs the pending migrations, each in its own transaction, one migrator at a time.
 *
 * @param onWait receives the name of a migration that waits for a lock, at each try
 * @returns the names that this call ran
 */
export async function runMigrations(
  address: DatabaseAddress,
  settings: StorageSettings,
  timers = new Timers(),
  onWait: (name: string) => void = () => undefined,
): Promise<string[]> {
  const source = new DataSource(withAddress(migrationOptions(settings), address));
  await source.initialize();
  try {
    const run = (): Promise<string[]> => runPending(source, timers, onWait);
    // One process at a time has the embedded database, which runs one transaction at a time.
    return await ('url' in address ? runAlone(source, timers, run) : run());
  } finally {
    await source.destroy();
  }
}

/** The lock is that of a transaction, for which a pooler keeps one connection. */
async function runAlone<Result>(
  source: DataSource,
  timers: Timers,
  run: () => Promise<Result>,
): Promise<Result> {
  const lock = source.createQueryRunner();
  try {
    await pollUntil(timers, () => takeLock(lock));
    const result = await run();
    // Each migration is committed: where this connection was cut meanwhile, only the lock ended early.
    await lock.commitTransaction().catch(() => undefined);
    return result;
  } finally {
    await lock.release();
  }
}

/**
 * Begins a transaction with the lock. A concurrent index build waits for its snapshot, which it would keep after a
 * statement with parameters, and while it waits for the lock.
 */
async function takeLock(lock: QueryRunner): Promise<boolean> {
  await lock.startTransaction('READ COMMITTED');
  await lock.query('SET LOCAL idle_in_transaction_session_timeout = 0');
  const [taken] = (await lock.query(TRY_LOCK)) as { isOurs: boolean }[];
  if (taken?.isOurs !== true) {
    await lock.rollbackTransaction();
  }
  return taken?.isOurs === true;
}

/** Statements of requests queue behind a lock that is waited for, so each wait is short. */
async function runPending(
  source: DataSource,
  timers: Timers,
  onWait: (name: string) => void,
): Promise<string[]> {
  const names = await pendingMigrations(source);
  for (;;) {
    try {
      await source.runMigrations({ transaction: 'each' });
      return names;
    } catch (error) {
      const [name = ''] = await pendingMigrations(source).catch(() => {
        throw error;
      });
      if (!isLockTimeout(error)) {
        throw Object.assign(error as Error, { message: `${name}: ${(error as Error).message}` });
      }
      onWait(name);
      await timers.sleep(LOCK_PAUSE_MS);
    }
  }
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}

/** TypeORM orders migrations by the Unix milliseconds at the end of their names. */
function timestampOf(name: string): number {
  return Number(name.slice(-13));
}
