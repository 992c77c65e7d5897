import { setTimeout } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { SETTINGS, type Settings } from '../config/settings.js';
import { createDataSource, type DatabaseAddress } from './data-source.js';
import { Database } from './database.js';
import { startEmbeddedDatabase, type EmbeddedDatabase } from './embedded-database.js';
import { pendingMigrations, runMigrations } from './migrations.js';

export type StorageState = 'connecting' | 'schema-behind' | 'ready';

const RETRY_MS = 500;

/**
 * Opens the database in the background and keeps trying: the server starts while the database is
 * still away, and serves as soon as it is there with a schema that matches.
 */
@Injectable()
export class StorageLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(StorageLifecycle.name);
  private readonly stopping = new AbortController();
  private readonly preparations: (() => Promise<void>)[] = [];
  private currentState: StorageState = 'connecting';
  private source: DataSource | null = null;
  private embedded: EmbeddedDatabase | null = null;
  private opening: Promise<void> = Promise.resolve();

  constructor(
    @Inject(SETTINGS) private readonly settings: Settings,
    private readonly database: Database,
  ) {}

  get state(): StorageState {
    return this.currentState;
  }

  /** Has `prepare` done, with the database open, whenever it is about to be ready. It may not reject. */
  beforeReady(prepare: () => Promise<void>): void {
    this.preparations.push(prepare);
  }

  onApplicationBootstrap(): void {
    this.opening = this.openUntilReady();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.opening;
    this.database.close();
    if (this.source?.isInitialized === true) {
      await this.source.destroy();
    }
    await this.embedded?.stop();
  }

  private async openUntilReady(): Promise<void> {
    let lastComplaint = '';
    while (!this.stopping.signal.aborted) {
      try {
        await this.open();
      } catch (error) {
        const complaint = error instanceof Error ? error.message : String(error);
        if (complaint !== lastComplaint) {
          this.logger.warn(`The database is not available yet: ${complaint}`);
          lastComplaint = complaint;
        }
      }
      if (this.currentState === 'ready') {
        return;
      }
      await pause(RETRY_MS, this.stopping.signal);
    }
  }

  private async open(): Promise<void> {
    const address = await this.address();
    this.source ??= createDataSource(address, this.settings.storage);
    if (!this.source.isInitialized) {
      await this.source.initialize();
    }
    const pending = await pendingMigrations(this.source);
    if (pending.length > 0) {
      this.waitForMigrations(pending);
      return;
    }
    const { preparedStatements } = this.settings.storage;
    this.database.open(this.source, preparedStatements && this.embedded === null);
    await Promise.all(this.preparations.map((prepare) => prepare()));
    this.currentState = 'ready';
    this.logger.log('The database is ready.');
  }

  private async address(): Promise<DatabaseAddress> {
    const { databaseUrl, dataDir } = this.settings.storage;
    if (databaseUrl !== null) {
      return { url: databaseUrl };
    }
    if (this.embedded === null) {
      this.embedded = await startEmbeddedDatabase({ dataDir, onExit: (e) => this.reopen(e) });
      await runMigrations(this.embedded.address, this.settings.storage);
    }
    return this.embedded.address;
  }

  /** The embedded database ended by itself: its data is kept, so a new one takes over. */
  private reopen(error: Error): void {
    this.logger.error(`The embedded database ended: ${error.message}`);
    this.database.close();
    this.currentState = 'connecting';
    const broken = this.source;
    this.source = null;
    this.embedded = null;
    void broken?.destroy().catch(() => undefined);
    this.opening = this.opening.then(() => this.openUntilReady());
  }

  private waitForMigrations(pending: readonly string[]): void {
    if (this.currentState !== 'schema-behind') {
      this.currentState = 'schema-behind';
      this.logger.warn(
        `The database lacks ${pending.length} migration(s): ${pending.join(', ')}. Run "gatehouse migrate".`,
      );
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
