import { Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import { MetricsService } from '../metrics/metrics.service.js';
import type { AnswerOutcome } from '../storage/repositories/approvals/request-answer.repository.js';
import { LiveConnectionsService } from '../updates/live-connections.service.js';

type StoredAnswer = Extract<AnswerOutcome, { readonly outcome: 'stored' }>;

/** Announces what happened to requests, after it is stored: updates, audit log and metrics. */
@Injectable()
export class RequestNewsService {
  constructor(
    private readonly updates: LiveConnectionsService,
    private readonly audit: AuditService,
    private readonly metrics: MetricsService,
  ) {}

  created(accountId: string, requestId: string, seq: number): void {
    this.metrics.agentRequests.inc({ step: 'asked' });
    this.updates.publish(accountId, seq, { t: 'request-created', requestId });
  }

  answered(accountId: string, requestId: string, stored: StoredAnswer): void {
    const { seq, event, firstAfterMs } = stored;
    this.updates.publish(accountId, seq, { t: 'request-answered', requestId });
    this.audit.log(event);
    if (firstAfterMs !== null) {
      this.metrics.agentRequests.inc({ step: 'answered' });
      this.metrics.agentRequestAnswer.observe(firstAfterMs / 1000);
    }
  }

  closed(accountId: string, requestId: string, seq: number, step: 'taken' | 'withdrawn'): void {
    this.metrics.agentRequests.inc({ step });
    this.updates.publish(accountId, seq, { t: 'request-closed', requestId });
  }

  expired(count: number): void {
    this.metrics.agentRequests.inc({ step: 'expired' }, count);
  }
}
