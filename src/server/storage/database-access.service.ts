import { Inject, Injectable } from '@nestjs/common';
import { storageConfig, type StorageSettings } from '../config/storage.config.js';
import type { ExternalDatabase } from './database-connection.js';

/** `url` changes with its credentials; empty = the embedded database. */
@Injectable()
export class DatabaseAccessService implements ExternalDatabase {
  url: string;
  readonly caBundle: string | null;

  constructor(@Inject(storageConfig.KEY) { databaseUrl, caBundle }: StorageSettings) {
    this.url = databaseUrl ?? '';
    this.caBundle = caBundle;
  }
}
