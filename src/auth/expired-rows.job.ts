import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { ExpiredRowsRepository } from '../storage/expired-rows.repository.js';

const EVERY_MS = 60_000;

/** Deletes challenges, device requests and revocations that mean nothing any more. */
@Injectable()
export class ExpiredRowsJob implements BeforeApplicationShutdown {
  private readonly logger = new Logger(ExpiredRowsJob.name);
  private running: Promise<void> | null = null;
  private isStopping = false;

  constructor(
    private readonly rows: ExpiredRowsRepository,
    private readonly clock: Clock,
  ) {}

  @Interval(EVERY_MS)
  async tick(): Promise<void> {
    this.running ??= this.runOnce().finally(() => {
      this.running = null;
    });
    await this.running;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  private async runOnce(): Promise<void> {
    try {
      let isMore = true;
      while (isMore && !this.isStopping) {
        isMore = await this.rows.deleteBatch(new Date(this.clock.now()));
      }
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'unavailable')) {
        this.logger.error(error);
      }
    }
  }
}
