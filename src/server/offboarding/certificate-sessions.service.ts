import { Injectable } from '@nestjs/common';
import { IdentityChangesService } from '../identities/identity-changes.service.js';
import { Clock } from '../../common/runtime/clock.js';
import { CertificateStatusService } from '../providers/certificate/certificate-status.service.js';
import type { LeasedIdentity } from '../storage/repositories/identity-due.repository.js';
import { SessionCertificateRepository } from '../storage/repositories/session-certificate.repository.js';

/** The identity keeps the newest certificate; sessions keep the one that they began with. */
@Injectable()
export class CertificateSessionsService {
  constructor(
    private readonly status: CertificateStatusService,
    private readonly sessions: SessionCertificateRepository,
    private readonly changes: IdentityChangesService,
    private readonly clock: Clock,
  ) {}

  async recheck({ accountId, provider, subject, certificate }: LeasedIdentity): Promise<void> {
    for (const older of await this.sessions.othersThan(certificate, accountId)) {
      const verdict = await this.status.judge(older, subject, true);
      // Without an answer the last one counts, and the token expires soon.
      if (verdict.kind === 'ineligible') {
        const { reason } = verdict;
        const now = new Date(this.clock.now());
        this.changes.announceEnds(
          await this.sessions.end({ accountId, provider }, older, reason, now),
        );
      }
    }
  }
}
