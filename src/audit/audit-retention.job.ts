import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { AuditRepository } from '../storage/audit.repository.js';

const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

/** Deletes audit events that are older than they are to be kept. */
@Injectable()
export class AuditRetentionJob implements BeforeApplicationShutdown {
  private readonly logger = new Logger(AuditRetentionJob.name);
  private running: Promise<void> | null = null;
  private isStopping = false;

  constructor(
    private readonly events: AuditRepository,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
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
    const limit = new Date(this.clock.now() - this.settings.audit.retentionDays * DAY_MS);
    try {
      while (!this.isStopping && (await this.events.deleteBefore(limit))) {
        // Each batch is a short statement of its own.
      }
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'unavailable')) {
        this.logger.error(error);
      }
    }
  }
}
