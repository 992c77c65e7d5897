import { Injectable, Logger } from '@nestjs/common';
import { BatchDeletion } from '../../common/batch-deletion.js';
import { Clock } from '../../common/runtime/clock.js';
import { ExpiredRowsRepository } from '../storage/repositories/expired-rows.repository.js';

@Injectable()
export class ExpiredRowsJob extends BatchDeletion {
  constructor(rows: ExpiredRowsRepository, clock: Clock) {
    super(() => rows.deleteBatch(new Date(clock.now())), new Logger(ExpiredRowsJob.name));
  }
}
