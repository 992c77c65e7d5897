import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import { CertificateStatusService } from '../../providers/certificate/certificate-status.service.js';
import { IdentityDueRepository } from '../../storage/repositories/identity-due.repository.js';

@Injectable()
export class CertificateRechecksService {
  constructor(
    private readonly status: CertificateStatusService,
    private readonly identities: IdentityDueRepository,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {}

  /** False if an identity without an answer is refused. */
  get lastAnswerStands(): boolean {
    const { enabled, strict } = this.config.offboarding;
    return !enabled || !strict;
  }

  /**
   * Re-checks an identity that was stored after a change, and judged before it: the search for the identities that
   * a revocation list, an authority or a rule concerns may not have found it.
   *
   * @param changes of {@link CertificateStatusService} when it was judged
   */
  async confirm(subject: string, changes: number): Promise<void> {
    if (this.config.offboarding.enabled && this.status.changes !== changes) {
      await this.identities.makeDue(CERTIFICATES, subject, new Date(this.clock.now()));
    }
  }
}
