import { Module } from '@nestjs/common';
import { StorageModule } from '../storage/storage.module.js';
import { AuditService } from './audit.service.js';
import { AuditRetentionJob } from './audit-retention.job.js';
import { RefusedPeopleService } from './refused-people.service.js';

/**
 * Owns the audit log, the refused people and the retention of rows. Does not own the rows of
 * changes, which repositories store. Routes: none.
 */
@Module({
  imports: [StorageModule],
  providers: [AuditService, AuditRetentionJob, RefusedPeopleService],
  exports: [AuditService, RefusedPeopleService],
})
export class AuditModule {}
