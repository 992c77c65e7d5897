import { Global, Module } from '@nestjs/common';
import { AuditLog } from './audit-log.js';
import { AuditRetentionJob } from './audit-retention.job.js';

/**
 * Owns the trail of what happened to accounts: the log lines, the counting of refused logins, and
 * how long rows are kept. Does not own the rows of changes: whoever makes one stores its row with it.
 */
@Global()
@Module({ providers: [AuditLog, AuditRetentionJob], exports: [AuditLog] })
export class AuditModule {}
