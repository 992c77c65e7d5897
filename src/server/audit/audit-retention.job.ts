import { Inject, Injectable, Logger } from '@nestjs/common';
import { BatchDeletion } from '../../common/batch-deletion.js';
import { Clock } from '../../common/runtime/clock.js';
import { auditConfig, type AuditSettings } from '../config/metrics.config.js';
import { AuditRepository } from '../storage/repositories/audit.repository.js';

const DAY_MS = 86_400_000;

@Injectable()
export class AuditRetentionJob extends BatchDeletion {
  constructor(
    events: AuditRepository,
    clock: Clock,
    @Inject(auditConfig.KEY) audit: AuditSettings,
  ) {
    super(async () => {
      const daysAgo = (days: number): Date => new Date(clock.now() - days * DAY_MS);
      const isMore = await events.deleteUntil(daysAgo(audit.retentionDays));
      return (await events.deleteRefusalsUntil(daysAgo(audit.refusedLoginsDays))) || isMore;
    }, new Logger(AuditRetentionJob.name));
  }
}
