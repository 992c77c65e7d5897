import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { Timers } from '../../common/runtime/timers.js';
import { DatabaseService } from './database.service.js';
import type { ServerDataSource } from './server-data-source.js';
import { failureMessage, isConnectionLost, isDiskFull, isStatementLost } from './storage-errors.js';

const RETRY_MS = 500;
/** A full disk is logged again after this. */
const FULL_AGAIN_MS = 60_000;

/** Logs the loss of the database and its return, one line each, and none for a request; also other faults of it, once. */
@Injectable()
export class DatabaseOutageService implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Database');
  private readonly stopping = new AbortController();
  private isFollowing = false;
  private isFull = false;
  private hasLostStatements = false;

  constructor(
    @InjectDataSource() private readonly source: ServerDataSource,
    private readonly database: DatabaseService,
    private readonly timers: Timers,
  ) {}

  onModuleInit(): void {
    this.source.onFailure = (error) => {
      if (isDiskFull(error)) {
        this.logFullDisk(error);
      } else if (isStatementLost(error)) {
        this.logLostStatements(error);
      } else if (isConnectionLost(error) && !this.isFollowing) {
        this.isFollowing = true;
        void this.follow(failureMessage(error)).finally(() => (this.isFollowing = false));
      }
    };
  }

  onApplicationShutdown(): void {
    this.stopping.abort();
  }

  private logFullDisk(error: Error): void {
    if (!this.isFull) {
      this.isFull = true;
      this.timers.after(FULL_AGAIN_MS, () => (this.isFull = false));
      this.logger.error(`The disk of the database is full: ${error.message}`);
    }
  }

  private logLostStatements({ message }: Error): void {
    if (!this.hasLostStatements) {
      this.hasLostStatements = true;
      this.logger.warn(
        `The pooler of the database does not keep prepared statements (${message}), so that none are prepared any more. Set SERVICE_DATABASE_PREPARED_STATEMENTS=false.`,
      );
    }
  }

  /** A single broken connection is no outage: a second try decides, whose failure says more. */
  private async follow(message: string): Promise<void> {
    if (await this.isAvailable()) {
      this.logger.warn(`A connection to the database was lost: ${message}`);
      await this.pause();
      return;
    }
    if (this.isOver()) {
      return;
    }
    const { lastFailure } = this.source;
    const reason = lastFailure === null ? message : failureMessage(lastFailure);
    this.logger.error(`The database is not available: ${reason}`);
    do {
      await this.pause();
    } while (!this.isOver() && !(await this.isAvailable()));
    if (!this.isOver()) {
      this.logger.log('The database is available again.');
    }
  }

  /** The data source is closed at the end, and while an embedded database starts again. */
  private isOver(): boolean {
    return this.stopping.signal.aborted || !this.source.isOpen;
  }

  private async isAvailable(): Promise<boolean> {
    return (await this.database.probe()) === 'ready';
  }

  private async pause(): Promise<void> {
    await this.timers.sleep(RETRY_MS, this.stopping.signal).catch(() => undefined);
  }
}
