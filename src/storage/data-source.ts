import { Inject, Injectable } from '@nestjs/common';
import pg, { type ClientConfig } from 'pg';
import { parseIntoClientConfig } from 'pg-connection-string';
import { DataSource, type MigrationInterface } from 'typeorm';
import type { PostgresDataSourceOptions } from 'typeorm/driver/postgres/PostgresDataSourceOptions.js';
import { pollUntil } from '../common/poll-until.js';
import { trustingContext, type OwnCertificate } from '../common/network/tls-trust.js';
import { storageConfig, type StorageSettings } from '../config/storage.config.js';
import { AccountCredentialEntity } from './entities/account-credential.entity.js';
import { AccountEntity } from './entities/account.entity.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';
import { DeviceAuthorizationEntity } from './entities/device-authorization.entity.js';
import { IdentityEntity } from './entities/identity.entity.js';
import { InvitationEntity } from './entities/invitation.entity.js';
import {
  ExternalFlowEntity,
  ExternalPendingEntity,
  LoginChallengeEntity,
  LogoutTokenEntity,
} from './entities/one-time.entity.js';
import { PushTokenEntity } from './entities/push-token.entity.js';
import { SessionEntity } from './entities/session.entity.js';
import { Gate1763700000000 } from './migrations/1763700000000-gate.js';
import { ExternalIdentities1763800000000 } from './migrations/1763800000000-external-identities.js';
import { Audit1763900000000 } from './migrations/1763900000000-audit.js';
import { AccountContent1764100000000 } from './migrations/1764100000000-account-content.js';
import { Sessions1764200000000 } from './migrations/1764200000000-sessions.js';
import { IdentityIssuer1764300000000 } from './migrations/1764300000000-identity-issuer.js';
import { ProviderSession1764400000000 } from './migrations/1764400000000-provider-session.js';
import { IdentityCertificate1764410000000 } from './migrations/1764410000000-identity-certificate.js';
import { PushTokenName1764420000000 } from './migrations/1764420000000-push-token-name.js';
import { SessionCertificate1764430000000 } from './migrations/1764430000000-session-certificate.js';
import { Administration1764450000000 } from './migrations/1764450000000-administration.js';
import { Invitations1764460000000 } from './migrations/1764460000000-invitations.js';
import { OldestCheck1764470000000 } from './migrations/1764470000000-oldest-check.js';

/** Where a PostgreSQL server listens; `host` may be the directory of a Unix socket. */
export type DatabaseAddress =
  | ExternalDatabase
  | {
      readonly host: string;
      readonly port: number;
      readonly username: string;
      readonly database: string;
    };

/** Read for every connection: what changes here counts for the next one. */
export interface ExternalDatabase {
  readonly url: string;
  /** PEM of authorities trusted beside those of Node.js. Default: none. */
  readonly caBundle?: string | null;
}

/** How the server reaches its database: `url` changes with its credentials; empty = the embedded one. */
@Injectable()
export class DatabaseAccess implements ExternalDatabase {
  url: string;
  readonly caBundle: string | null;

  constructor(@Inject(storageConfig.KEY) { databaseUrl, caBundle }: StorageSettings) {
    this.url = databaseUrl ?? '';
    this.caBundle = caBundle;
  }
}

const MIGRATIONS_TABLE = 'schema_migration';

/** Any number, the same in every release: one migrator at a time per database. */
const ADVISORY_LOCK = 7_326_402_911;

/** The client abandons a statement this long after the server's own limit. */
const CLIENT_MARGIN_MS = 500;

export const ENTITIES = [
  AccountCredentialEntity,
  AccountEntity,
  AuditEventEntity,
  DeviceAuthorizationEntity,
  ExternalFlowEntity,
  ExternalPendingEntity,
  IdentityEntity,
  InvitationEntity,
  LoginChallengeEntity,
  LogoutTokenEntity,
  PushTokenEntity,
  SessionEntity,
];

/** Entities, migrations, pool and time-outs: what TypeORM knows of the database but its address. */
export function dataSourceOptions(settings: StorageSettings): PostgresDataSourceOptions {
  return {
    type: 'postgres',
    // Given, so that it is linked: TypeORM would look for it in node_modules.
    driver: pg,
    entities: ENTITIES,
    migrations: [
      Gate1763700000000,
      ExternalIdentities1763800000000,
      Audit1763900000000,
      AccountContent1764100000000,
      Sessions1764200000000,
      IdentityIssuer1764300000000,
      ProviderSession1764400000000,
      IdentityCertificate1764410000000,
      PushTokenName1764420000000,
      SessionCertificate1764430000000,
      Administration1764450000000,
      Invitations1764460000000,
      OldestCheck1764470000000,
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
    extra: { ...timeouts(settings), keepAlive: true },
    // The pool reports idle connections that broke; the next statement opens a new one.
    poolErrorHandler: () => undefined,
  };
}

/** The options with the address of the database. */
export function withAddress(
  options: PostgresDataSourceOptions,
  address: DatabaseAddress,
): PostgresDataSourceOptions {
  if (!('url' in address)) {
    return { ...options, ...address };
  }
  const extra: unknown = options.extra;
  return { ...options, extra: { ...(extra as object), Client: clientFor(address) } };
}

/** pg's client, with the address, credentials and certificates of the moment it connects. */
function clientFor(access: ExternalDatabase): typeof pg.Client {
  return class extends pg.Client {
    constructor(options?: ClientConfig) {
      const config = parseIntoClientConfig(access.url);
      super({ ...options, ...config, ...trustOf(config, access.caBundle) });
    }
  };
}

/** What the address itself says about certificates (sslrootcert, sslmode=no-verify) counts first. */
function trustOf({ ssl }: ClientConfig, caBundle: string | null = null): Pick<ClientConfig, 'ssl'> {
  const given = ssl === true ? {} : ssl;
  if (!given || caBundle === null || given.ca !== undefined || given.rejectUnauthorized === false) {
    return {};
  }
  const { cert, key } = given as OwnCertificate;
  return { ssl: { ...given, secureContext: trustingContext(caBundle, { cert, key }) } };
}

/** As {@link dataSourceOptions}; a migration may run for as long as it needs. */
export function migrationOptions(settings: StorageSettings): PostgresDataSourceOptions {
  const withoutLimits = { statementTimeoutMs: 0, lockTimeoutMs: 0, poolSize: 2 };
  return dataSourceOptions({ ...settings, ...withoutLimits });
}

/** Names of this program's migrations that the database has not run yet, oldest first. */
export async function pendingMigrations(source: DataSource): Promise<string[]> {
  const runner = source.driver.createQueryRunner('master');
  const rows = async (sql: string): Promise<{ name: string | null }[]> =>
    (await runner.query(sql)) as { name: string | null }[];
  try {
    const [found] = await rows(`SELECT to_regclass('${MIGRATIONS_TABLE}') AS name`);
    const applied = found?.name ? await rows(`SELECT name FROM "${MIGRATIONS_TABLE}"`) : [];
    const names = new Set(applied.map(({ name }) => name));
    return source.migrations.map(nameOf).filter((name) => !names.has(name));
  } finally {
    await runner.release();
  }
}

/**
 * Runs what is pending, each migration in its own transaction, one migrator at a time.
 *
 * @returns the names that this call ran
 */
export async function runMigrations(
  address: DatabaseAddress,
  settings: StorageSettings,
): Promise<string[]> {
  const source = new DataSource(withAddress(migrationOptions(settings), address));
  await source.initialize();
  const lock = source.createQueryRunner();
  try {
    // A statement that waits for the lock holds a snapshot, for which a concurrent index build waits.
    await pollUntil(async () => {
      const [taken] = (await lock.query('SELECT pg_try_advisory_lock($1) AS "isOurs"', [
        ADVISORY_LOCK,
      ])) as { isOurs: boolean }[];
      return taken?.isOurs === true;
    });
    const ran = await source.runMigrations({ transaction: 'each' });
    await lock.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCK]);
    return ran.map((migration) => migration.name);
  } finally {
    await lock.release();
    await source.destroy();
  }
}

function nameOf(migration: MigrationInterface): string {
  return migration.name ?? migration.constructor.name;
}

function timeouts({ statementTimeoutMs, lockTimeoutMs }: StorageSettings): Record<string, number> {
  return {
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs * 2,
    // A server that hangs cannot time out by itself; 0 = no limit.
    query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + CLIENT_MARGIN_MS,
  };
}
