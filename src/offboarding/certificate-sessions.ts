import { Injectable } from '@nestjs/common';
import { AuditLog } from '../audit/audit-log.js';
import { IdentityEvents } from '../auth/identity-events.js';
import { Clock } from '../common/clock.js';
import { CertificateStatus } from '../providers/certificate/certificate-status.js';
import type { LeasedIdentity } from '../storage/repositories/identity-due.repository.js';
import { SessionCertificateRepository } from '../storage/repositories/session-certificate.repository.js';

/**
 * Re-checks the certificates of live sessions beside the newest one, which the identity keeps: each
 * ends with what it began, and the identity stays as it is.
 */
@Injectable()
export class CertificateSessions {
  constructor(
    private readonly status: CertificateStatus,
    private readonly sessions: SessionCertificateRepository,
    private readonly events: IdentityEvents,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `unavailable` */
  async recheck({ accountId, provider, subject, certificate }: LeasedIdentity): Promise<void> {
    for (const older of await this.sessions.othersThan(certificate, accountId)) {
      const verdict = await this.status.judge(older, subject, true);
      // Without an answer the last one stands, and the token ends soon.
      if (verdict.kind === 'ineligible') {
        const { reason } = verdict;
        const now = new Date(this.clock.now());
        const ended = await this.sessions.end({ accountId, provider }, older, reason, now);
        for (const sessionId of ended) {
          const event = { kind: 'token-revoked', actor: 'provider', reason } as const;
          this.audit.log({ ...event, accountId, provider, sessionId });
          this.events.announceAccessChange({ accountId, sessionId, closes: 'token-revoked' });
        }
      }
    }
  }
}
