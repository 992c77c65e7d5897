import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { BatchDeletion } from '../common/batch-deletion.js';
import { Clock } from '../common/clock.js';
import { ExpiredRowsRepository } from '../storage/repositories/expired-rows.repository.js';

const EVERY_MS = 60_000;

/** Deletes challenges, device requests, invitations and revocations that mean nothing any more. */
@Injectable()
export class ExpiredRowsJob extends BatchDeletion {
  constructor(rows: ExpiredRowsRepository, clock: Clock) {
    super(() => rows.deleteBatch(new Date(clock.now())), new Logger(ExpiredRowsJob.name));
  }

  @Interval(EVERY_MS)
  tick(): Promise<void> {
    return this.run();
  }
}
