import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { BatchDeletion } from '../common/batch-deletion.js';
import { Clock } from '../common/clock.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { AuditRepository } from '../storage/audit.repository.js';

const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

/** Deletes audit events that are older than they are to be kept. */
@Injectable()
export class AuditRetentionJob implements BeforeApplicationShutdown {
  private readonly deletion: BatchDeletion;

  constructor(events: AuditRepository, clock: Clock, @Inject(SETTINGS) { audit }: Settings) {
    this.deletion = new BatchDeletion(
      () => events.deleteBefore(new Date(clock.now() - audit.retentionDays * DAY_MS)),
      new Logger(AuditRetentionJob.name),
    );
  }

  @Interval(EVERY_MS)
  tick(): Promise<void> {
    return this.deletion.run();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.deletion.stop();
  }
}
