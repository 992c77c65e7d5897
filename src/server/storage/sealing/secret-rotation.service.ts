import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../../common/runtime/clock.js';
import { readSecretValue } from '../../config/read-environment.js';
import { SecretFile } from '../../config/environment/secret-file.js';
import { storageConfig, type StorageSettings } from '../../config/storage.config.js';
import { DatabaseAccessService } from '../database-access.service.js';
import { checkMasterSecret, masterSecretPath, MasterKeys } from './master-keys.js';

const LOOK_EVERY_MS = 2000;

/** Applies changed files of the database's address and of the master secrets. */
@Injectable()
export class SecretRotationService {
  private readonly url: SecretFile<string>;
  private readonly master: SecretFile<string | null>;
  private readonly previous: SecretFile<readonly string[]>;
  private inUse: string;

  constructor(
    @Inject(storageConfig.KEY) storage: StorageSettings,
    private readonly access: DatabaseAccessService,
    private readonly masterKeys: MasterKeys,
    clock: Clock,
  ) {
    const { databaseUrl, dataDir, masterSecret, masterSecretsPrevious, files } = storage;
    this.url = new SecretFile(
      clock,
      databaseUrl ?? '',
      files.databaseUrl,
      (text) => readSecretValue('DATABASE_URL', text) ?? '',
    );
    // The embedded database has a file of its own where no secret is configured.
    const ownFile = masterSecret === null ? masterSecretPath(dataDir) : null;
    this.master = new SecretFile(clock, masterSecret, ownFile ?? files.masterSecret, (text) =>
      ownFile === null
        ? readSecretValue('SERVICE_MASTER_SECRET', text)
        : checkMasterSecret(text, ownFile),
    );
    this.previous = new SecretFile(
      clock,
      masterSecretsPrevious,
      files.masterSecretsPrevious,
      (text) => readSecretValue('SERVICE_MASTER_SECRET_PREVIOUS', text),
    );
    this.inUse = JSON.stringify([masterSecret, masterSecretsPrevious]);
  }

  @Interval(LOOK_EVERY_MS)
  async poll(): Promise<void> {
    this.access.url = await this.url.current();
    const [master, previous] = [await this.master.current(), await this.previous.current()];
    const found = JSON.stringify([master, previous]);
    if (master !== null && found !== this.inUse) {
      this.inUse = found;
      this.masterKeys.replace(master, previous);
    }
  }
}
