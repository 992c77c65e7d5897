import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module.js';
import { EventRetentionJob } from './event-retention.job.js';

/**
 * Owns the retention of the events that report ended sessions to backends. Every server has it: the events of backends
 * that are not configured any more expire as well.
 * Does not own their delivery (signals). Routes: none.
 */
@Module({
  imports: [StorageModule],
  providers: [EventRetentionJob],
})
export class EventRetentionModule {}
