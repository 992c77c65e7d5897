import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { LogOnce } from '../../common/log-once.js';
import { Timers } from '../../common/runtime/timers.js';
import { storageConfig, type StorageSettings } from '../config/storage.config.js';
import { pendingMigrations, runMigrations, withPlainRunner } from './data-source.js';
import { startEmbeddedDatabase, type EmbeddedDatabase } from './embedded/embedded-database.js';
import { BrokenSealError } from './sealing/sealed-box.service.js';
import { SealedValuesService } from './sealing/sealed-values.service.js';
import type { ServerDataSource } from './server-data-source.js';
import { failureMessage, isReadOnly, isStarting } from './storage-errors.js';

/** `wrong-secret`: the master secret does not open what the database holds. */
export type StorageState = 'connecting' | 'read-only' | 'schema-behind' | 'wrong-secret' | 'ready';

const RETRY_MS = 500;

/**
 * Connects in the background and retries: a server starts without its database, and serves requests
 * once the database answers with a matching schema.
 */
@Injectable()
export class StorageLifecycleService implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(StorageLifecycleService.name);
  private readonly stopping = new AbortController();
  private readonly preparations: (() => Promise<void>)[] = [];
  private currentState: StorageState = 'connecting';
  private embedded: EmbeddedDatabase | null = null;
  private opening: Promise<void> = Promise.resolve();

  constructor(
    @Inject(storageConfig.KEY) private readonly config: StorageSettings,
    @InjectDataSource() private readonly source: ServerDataSource,
    private readonly sealedValues: SealedValuesService,
    private readonly timers: Timers,
  ) {}

  get state(): StorageState {
    return this.currentState;
  }

  /** Ends once the database serves, or the server ends. */
  whenOpened(): Promise<void> {
    return this.opening;
  }

  /**
   * Runs `prepare` after each connect, before the database counts as ready. It may only reject with
   * BrokenSealError, for a value without which the server must not work.
   */
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
      this.logger.error(`The database is not available: ${message}`),
    );
    while (!this.stopping.signal.aborted) {
      try {
        await this.open();
      } catch (error) {
        const message = error instanceof Error ? failureMessage(error) : String(error);
        this.currentState = isReadOnly(error) ? 'read-only' : 'connecting';
        // A database that starts refuses connections in several ways, which are one outage.
        unavailable.write(message, isStarting(error) ? 'away' : message);
      }
      if (this.currentState === 'ready') {
        return;
      }
      // Ends early at the shutdown.
      await this.timers.sleep(RETRY_MS, this.stopping.signal).catch(() => undefined);
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
      await runMigrations(this.embedded.address, this.config, this.timers);
    }
    const report = await withPlainRunner(this.source, (sql) => this.sealedValues.check(sql));
    if (report.isWrongSecret) {
      // Values and tokens of this secret would be lost once the right one is back.
      this.currentState = 'wrong-secret';
      return;
    }
    this.source.open(this.config.preparedStatements && this.embedded === null);
    try {
      await Promise.all(this.preparations.map((prepare) => prepare()));
    } catch (error) {
      if (error instanceof BrokenSealError) {
        this.source.close();
        this.currentState = 'wrong-secret';
        return;
      }
      throw error;
    }
    this.currentState = 'ready';
    this.logger.log('The database is ready.');
  }

  private async startEmbedded(): Promise<void> {
    const { databaseUrl, dataDir } = this.config;
    if (databaseUrl !== null || this.embedded !== null) {
      return;
    }
    this.embedded = await startEmbeddedDatabase({ dataDir, onExit: (e) => this.reopen(e) });
    await this.disconnect();
    this.source.setOptions(this.embedded.address);
  }

  /** Restarts the embedded database after an unexpected end. Its data is kept. */
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
