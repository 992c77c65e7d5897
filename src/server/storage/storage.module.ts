import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSourceOptions } from 'typeorm';
import { Random } from '../../common/runtime/random.js';
import { Runtime } from '../../common/runtime/runtime.js';
import { storageConfig, type StorageSettings } from '../config/storage.config.js';
import { DatabaseAccessModule } from './database-access.module.js';
import { DatabaseAccessService } from './database-access.service.js';
import { dataSourceOptions, ENTITIES, withAddress } from './data-source.js';
import { DatabaseOutageService } from './database-outage.service.js';
import { DatabaseService } from './database.service.js';
import { REPOSITORIES } from './repositories/repositories.js';
import { REDIS, RedisService } from './redis/redis.service.js';
import { ContentAtRestService } from './sealing/content-at-rest.service.js';
import { IdentityCredentialsService } from './sealing/identity-credentials.service.js';
import { loadMasterSecret, MasterKeys } from './sealing/master-keys.js';
import { SealedValuesService } from './sealing/sealed-values.service.js';
import { SecretRotationService } from './sealing/secret-rotation.service.js';
import { SealedBoxService } from './sealing/sealed-box.service.js';
import { ServerDataSource } from './server-data-source.js';
import { StorageLifecycleService } from './storage-lifecycle.service.js';

const seals = [SealedBoxService, ContentAtRestService, IdentityCredentialsService];

const masterKeys = {
  provide: MasterKeys,
  inject: [storageConfig.KEY, Random],
  useFactory: async (storage: StorageSettings, random: Random): Promise<MasterKeys> =>
    new MasterKeys(
      storage.masterSecret ?? (await loadMasterSecret(storage.dataDir, random)),
      storage.masterSecretsPrevious,
    ),
};

const redis = {
  provide: REDIS,
  inject: [storageConfig.KEY, Runtime],
  useFactory: async (storage: StorageSettings, runtime: Runtime): Promise<RedisService | null> =>
    storage.redisUrl === null
      ? null
      : RedisService.open({ ...storage, redisUrl: storage.redisUrl }, runtime),
};

/** {@link StorageLifecycleService} connects, because the server starts without a database. */
const typeOrm = TypeOrmModule.forRootAsync({
  imports: [DatabaseAccessModule],
  inject: [storageConfig.KEY, DatabaseAccessService],
  useFactory: (config: StorageSettings, access: DatabaseAccessService) => {
    const options = dataSourceOptions(config);
    const addressed = config.databaseUrl === null ? options : withAddress(options, access);
    return { ...addressed, manualInitialization: true };
  },
  dataSourceFactory: (options) =>
    Promise.resolve(new ServerDataSource(options as DataSourceOptions)),
});

/**
 * Owns the connections to the database and to Redis, the schema, the statements, and the keys of sealed
 * values. A database that cannot answer is reported as `unavailable`. Does not own the rules (policy).
 * Entities never leave this folder; repositories return plain values. Routes: none.
 */
@Module({
  imports: [DatabaseAccessModule, typeOrm, TypeOrmModule.forFeature(ENTITIES)],
  providers: [
    DatabaseOutageService,
    DatabaseService,
    StorageLifecycleService,
    SealedValuesService,
    SecretRotationService,
    masterKeys,
    redis,
    ...seals,
    ...REPOSITORIES,
  ],
  exports: [
    DatabaseService,
    SealedValuesService,
    StorageLifecycleService,
    MasterKeys,
    REDIS,
    ...seals,
    ...REPOSITORIES,
  ],
})
export class StorageModule {}
