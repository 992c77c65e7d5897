import { Global, Module } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import { storageConfig } from '../config/storage.config.js';
import { DatabaseAccess, dataSourceOptions, ENTITIES, withAddress } from './data-source.js';
import { Database } from './database.js';
import { REDIS, RedisConnections } from './redis/redis-connections.js';
import { AccountAdminRepository } from './repositories/account-admin.repository.js';
import { AccountCredentialsRepository } from './repositories/account-credentials.repository.js';
import { AccountSearchRepository } from './repositories/account-search.repository.js';
import { AccountSettingsRepository } from './repositories/account-settings.repository.js';
import { AccountRepository } from './repositories/account.repository.js';
import { AdministrationCountsRepository } from './repositories/administration-counts.repository.js';
import { AuditRepository } from './repositories/audit.repository.js';
import { DeviceAuthorizationRepository } from './repositories/device-authorization.repository.js';
import { ExpiredRowsRepository } from './repositories/expired-rows.repository.js';
import { IdentityDueRepository } from './repositories/identity-due.repository.js';
import { IdentityRepository } from './repositories/identity.repository.js';
import { InvitationRepository } from './repositories/invitation.repository.js';
import { KeylessRepository } from './repositories/keyless.repository.js';
import { LiveAccessRepository } from './repositories/live-access.repository.js';
import {
  ExternalFlowRepository,
  LoginChallengeRepository,
} from './repositories/one-time.repository.js';
import { ProviderLogoutRepository } from './repositories/provider-logout.repository.js';
import { PushTokenRepository } from './repositories/push-token.repository.js';
import { SessionCertificateRepository } from './repositories/session-certificate.repository.js';
import { SessionRepository } from './repositories/session.repository.js';
import { ContentAtRest, IdentityCredentials } from './sealing/content-at-rest.js';
import { loadMasterSecret, MasterKeys } from './sealing/master-keys.js';
import { RotatedSecrets } from './sealing/rotated-secrets.js';
import { SealedBox } from './sealing/sealed-box.js';
import { ServerDataSource } from './server-data-source.js';
import { StorageLifecycle } from './storage-lifecycle.js';

const repositories = [
  AccountAdminRepository,
  AccountSearchRepository,
  AdministrationCountsRepository,
  AccountCredentialsRepository,
  AccountSettingsRepository,
  AccountRepository,
  AuditRepository,
  DeviceAuthorizationRepository,
  ExpiredRowsRepository,
  ExternalFlowRepository,
  IdentityDueRepository,
  IdentityRepository,
  InvitationRepository,
  KeylessRepository,
  LiveAccessRepository,
  LoginChallengeRepository,
  ProviderLogoutRepository,
  PushTokenRepository,
  SessionCertificateRepository,
  SessionRepository,
];

const seals = [SealedBox, ContentAtRest, IdentityCredentials];

const masterKeys = {
  provide: MasterKeys,
  inject: [storageConfig.KEY],
  useFactory: async (storage: ConfigType<typeof storageConfig>): Promise<MasterKeys> =>
    new MasterKeys(
      storage.masterSecret ?? (await loadMasterSecret(storage.dataDir)),
      storage.masterSecretsPrevious,
    ),
};

const redis = {
  provide: REDIS,
  inject: [storageConfig.KEY],
  useFactory: async (
    storage: ConfigType<typeof storageConfig>,
  ): Promise<RedisConnections | null> =>
    storage.redisUrl === null
      ? null
      : RedisConnections.open({ ...storage, redisUrl: storage.redisUrl }),
};

/** The connection is made by {@link StorageLifecycle}, because the server starts without a database. */
const typeOrm = TypeOrmModule.forRootAsync({
  inject: [storageConfig.KEY, DatabaseAccess],
  useFactory: (config: ConfigType<typeof storageConfig>, access: DatabaseAccess) => {
    const options = dataSourceOptions(config);
    const addressed = config.databaseUrl === null ? options : withAddress(options, access);
    return { ...addressed, manualInitialization: true };
  },
  dataSourceFactory: (options) =>
    Promise.resolve(new ServerDataSource(options as DataSourceOptions)),
});

/**
 * Owns the database: connection, schema, and every statement. Entities never leave this folder;
 * repositories return plain values, and a database that cannot answer is reported as `unavailable`.
 * Does not own any rule about who may do what.
 */
@Global()
@Module({
  imports: [typeOrm, TypeOrmModule.forFeature(ENTITIES)],
  providers: [
    DatabaseAccess,
    Database,
    StorageLifecycle,
    RotatedSecrets,
    masterKeys,
    redis,
    ...seals,
    ...repositories,
  ],
  exports: [
    DatabaseAccess,
    Database,
    StorageLifecycle,
    MasterKeys,
    REDIS,
    ...seals,
    ...repositories,
  ],
})
export class StorageModule {}
