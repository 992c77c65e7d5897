import { setTimeout } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { LogOnce } from '../common/log-once.js';
import { storageConfig } from '../config/storage.config.js';
import { pendingMigrations, runMigrations } from './data-source.js';
import { startEmbeddedDatabase, type EmbeddedDatabase } from './embedded/embedded-database.js';
import type { ServerDataSource } from './server-data-source.js';

export type StorageState = 'connecting' | 'schema-behind' | 'ready';

const RETRY_MS = 500;

/**
 * Initializes TypeORM's data source in the background and keeps trying: the server starts while the
 * database is away, and serves as soon as it answers with a schema that matches.
 */
@Injectable()
export class StorageLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(StorageLifecycle.name);
  private readonly stopping = new AbortController();
  private readonly preparations: (() => Promise<void>)[] = [];
  private currentState: StorageState = 'connecting';
  private embedded: EmbeddedDatabase | null = null;
  private opening: Promise<void> = Promise.resolve();

  constructor(
    @Inject(storageConfig.KEY) private readonly config: ConfigType<typeof storageConfig>,
    @InjectDataSource() private readonly source: ServerDataSource,
  ) {}

  get state(): StorageState {
    return this.currentState;
  }

  /** Runs `prepare` with the database open each time before it is ready. It must not reject. */
  beforeReady(prepare: () => Promise<void>): void {
    this.preparations.push(prepare);
  }

  onApplicationBootstrap(): void {
    this.opening = this.openUntilReady();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.opening;
    this.source.close();
    await this.disconnect();
    await this.embedded?.stop();
  }

  private async openUntilReady(): Promise<void> {
    const unavailable = new LogOnce((message) =>
      this.logger.warn(`The database is not available yet: ${message}`),
    );
    while (!this.stopping.signal.aborted) {
      try {
        await this.open();
      } catch (error) {
        unavailable.write(error instanceof Error ? error.message : String(error));
      }
      if (this.currentState === 'ready') {
        return;
      }
      await pause(RETRY_MS, this.stopping.signal);
    }
  }

  private async open(): Promise<void> {
    await this.startEmbedded();
    if (!this.source.isInitialized) {
      await this.source.initialize();
    }
    const pending = await pendingMigrations(this.source);
    if (pending.length > 0) {
      if (this.embedded === null) {
        this.waitForMigrations(pending);
        return;
      }
      await runMigrations(this.embedded.address, this.config);
    }
    this.source.open(this.config.preparedStatements && this.embedded === null);
    await Promise.all(this.preparations.map((prepare) => prepare()));
    this.currentState = 'ready';
    this.logger.log('The database is ready.');
  }

  /** Starts the embedded database where it is the one in use. */
  private async startEmbedded(): Promise<void> {
    const { databaseUrl, dataDir } = this.config;
    if (databaseUrl !== null || this.embedded !== null) {
      return;
    }
    this.embedded = await startEmbeddedDatabase({ dataDir, onExit: (e) => this.reopen(e) });
    await this.disconnect();
    this.source.setOptions(this.embedded.address);
  }

  /** The embedded database ended by itself: its data is kept, so a new one takes over. */
  private reopen(error: Error): void {
    this.logger.error(`The embedded database ended: ${error.message}`);
    this.source.close();
    this.currentState = 'connecting';
    this.embedded = null;
    this.opening = this.opening.then(() => this.openUntilReady());
  }

  private async disconnect(): Promise<void> {
    if (this.source.isInitialized) {
      await this.source.destroy();
    }
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
