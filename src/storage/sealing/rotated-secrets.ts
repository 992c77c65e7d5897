import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { readValue } from '../../config/environment/read-values.js';
import { SecretFile } from '../../config/environment/secret-file.js';
import { storageConfig } from '../../config/storage.config.js';
import { DatabaseAccess } from '../data-source.js';
import { MasterKeys } from './master-keys.js';

const LOOK_EVERY_MS = 2000;

/**
 * Puts changed files of the database's address and of the master secrets into use. Open connections
 * stay as they are; what the former master secret made stays valid.
 */
@Injectable()
export class RotatedSecrets {
  private readonly url: SecretFile<string>;
  private readonly master: SecretFile<string | null>;
  private readonly previous: SecretFile<readonly string[]>;
  private inUse: string;

  constructor(
    @Inject(storageConfig.KEY) storage: ConfigType<typeof storageConfig>,
    private readonly access: DatabaseAccess,
    private readonly masterKeys: MasterKeys,
  ) {
    const { databaseUrl, masterSecret, masterSecretsPrevious, files } = storage;
    this.url = new SecretFile(
      databaseUrl ?? '',
      files.databaseUrl,
      (text) => readValue('DATABASE_URL', text) ?? '',
    );
    this.master = new SecretFile(masterSecret, files.masterSecret, (text) =>
      readValue('SERVICE_MASTER_SECRET', text),
    );
    this.previous = new SecretFile(masterSecretsPrevious, files.masterSecretsPrevious, (text) =>
      readValue('SERVICE_MASTER_SECRET_PREVIOUS', text),
    );
    this.inUse = JSON.stringify([masterSecret, masterSecretsPrevious]);
  }

  @Interval(LOOK_EVERY_MS)
  async look(): Promise<void> {
    this.access.url = await this.url.current();
    const [master, previous] = [await this.master.current(), await this.previous.current()];
    const found = JSON.stringify([master, previous]);
    if (master !== null && found !== this.inUse) {
      this.inUse = found;
      this.masterKeys.replace(master, previous);
    }
  }
}
