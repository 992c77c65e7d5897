import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { AuditRetentionJob } from './audit-retention.job.js';

/**
 * Owns the audit log: log lines, the count of refused logins, and the retention of rows. Does not own
 * the rows of changes: a repository stores them in the transaction of the change.
 */
@Global()
@Module({ providers: [AuditLog, AuditRetentionJob], exports: [AuditLog] })
export class AuditModule {}
