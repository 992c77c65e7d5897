import { Module } from '@nestjs/common';
import { AuditRepository } from '../repositories/audit.repository.js';
import { StorageModule } from '../storage.module.js';

/**
 * Owns the rows of the audit log: adding, searching and deleting them. Does not own its log lines
 * (audit). Routes: none.
 */
@Module({ imports: [StorageModule], providers: [AuditRepository], exports: [AuditRepository] })
export class AuditStorageModule {}
