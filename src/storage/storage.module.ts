import { Global, Module } from '@nestjs/common';
import { SETTINGS, type Settings } from '../config/settings.js';
import { AccountCredentialsRepository } from './account-credentials.repository.js';
import { AccountRemovalRepository } from './account-removal.repository.js';
import { AccountSettingsRepository } from './account-settings.repository.js';
import { AccountRepository } from './account.repository.js';
import { AuditRepository } from './audit.repository.js';
import { ContentAtRest } from './content-at-rest.js';
import { Database } from './database.js';
import { DeviceAuthorizationRepository } from './device-authorization.repository.js';
import { ExpiredRowsRepository } from './expired-rows.repository.js';
import { ExternalFlowRepository } from './external-flow.repository.js';
import { IdentityCredentials } from './identity-credentials.js';
import { IdentityDueRepository } from './identity-due.repository.js';
import { IdentityRepository } from './identity.repository.js';
import { KeylessRepository } from './keyless.repository.js';
import { LiveAccessRepository } from './live-access.repository.js';
import { LoginChallengeRepository } from './login-challenge.repository.js';
import { LogoutTokenRepository } from './logout-token.repository.js';
import { MasterKeys } from './master-keys.js';
import { loadMasterSecret } from './master-secret.js';
import { PushTokenRepository } from './push-token.repository.js';
import { REDIS, RedisConnections } from './redis-connections.js';
import { SealedBox } from './sealed-box.js';
import { SessionRepository } from './session.repository.js';
import { StorageLifecycle } from './storage-lifecycle.js';

const repositories = [
  AccountCredentialsRepository,
  AccountRemovalRepository,
  AccountSettingsRepository,
  AccountRepository,
  AuditRepository,
  DeviceAuthorizationRepository,
  ExpiredRowsRepository,
  ExternalFlowRepository,
  IdentityDueRepository,
  IdentityRepository,
  KeylessRepository,
  LiveAccessRepository,
  LoginChallengeRepository,
  LogoutTokenRepository,
  PushTokenRepository,
  SessionRepository,
];

const seals = [SealedBox, ContentAtRest, IdentityCredentials];

const masterKeys = {
  provide: MasterKeys,
  inject: [SETTINGS],
  useFactory: async ({ storage }: Settings): Promise<MasterKeys> =>
    new MasterKeys(
      storage.masterSecret ?? (await loadMasterSecret(storage.dataDir)),
      storage.masterSecretsPrevious,
    ),
};

const redis = {
  provide: REDIS,
  inject: [SETTINGS],
  useFactory: async ({ storage }: Settings): Promise<RedisConnections | null> =>
    storage.redisUrl === null ? null : RedisConnections.open(storage.redisUrl),
};

/**
 * Owns the database: connection, schema, and every statement. Entities never leave this folder;
 * repositories return plain values, and a database that cannot answer leaves as `unavailable`.
 * Does not own any rule about who may do what.
 */
@Global()
@Module({
  providers: [Database, StorageLifecycle, masterKeys, redis, ...seals, ...repositories],
  exports: [Database, StorageLifecycle, MasterKeys, REDIS, ...seals, ...repositories],
})
export class StorageModule {}
