import { DataSource } from 'typeorm';
import type { StorageSettings } from '../config/settings.js';
import { AccountCredentialEntity } from './entities/account-credential.entity.js';
import { AccountEntity } from './entities/account.entity.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';
import { DeviceAuthorizationEntity } from './entities/device-authorization.entity.js';
import { ExternalFlowEntity, ExternalPendingEntity } from './entities/external-flow.entity.js';
import { IdentityEntity } from './entities/identity.entity.js';
import { LoginChallengeEntity } from './entities/login-challenge.entity.js';
import { LogoutTokenEntity } from './entities/logout-token.entity.js';
import { PushTokenEntity } from './entities/push-token.entity.js';
import { SessionEntity } from './entities/session.entity.js';
import { Gate1763700000000 } from './migrations/1763700000000-gate.js';
import { ExternalIdentities1763800000000 } from './migrations/1763800000000-external-identities.js';
import { Audit1763900000000 } from './migrations/1763900000000-audit.js';
import { AccountContent1764100000000 } from './migrations/1764100000000-account-content.js';
import { Sessions1764200000000 } from './migrations/1764200000000-sessions.js';
import { IdentityIssuer1764300000000 } from './migrations/1764300000000-identity-issuer.js';

/** Where a PostgreSQL server listens; `host` may be the directory of a Unix socket. */
export type DatabaseAddress =
  | { readonly url: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly username: string;
      readonly database: string;
    };

export const MIGRATIONS_TABLE = 'schema_migration';

/** Statements waiting this much longer than the server's own limit are given up by the client. */
const CLIENT_MARGIN_MS = 500;

/** The one description of the database: entities, migrations, pool and time-outs. */
export function createDataSource(address: DatabaseAddress, settings: StorageSettings): DataSource {
  return new DataSource({
    type: 'postgres',
    ...address,
    entities: [
      AccountCredentialEntity,
      AccountEntity,
      AuditEventEntity,
      DeviceAuthorizationEntity,
      ExternalFlowEntity,
      ExternalPendingEntity,
      IdentityEntity,
      LoginChallengeEntity,
      LogoutTokenEntity,
      PushTokenEntity,
      SessionEntity,
    ],
    migrations: [
      Gate1763700000000,
      ExternalIdentities1763800000000,
      Audit1763900000000,
      AccountContent1764100000000,
      Sessions1764200000000,
      IdentityIssuer1764300000000,
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
  });
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
