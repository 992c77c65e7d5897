import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { IdentityDueRepository } from '../storage/repositories/identity-due.repository.js';

@Injectable()
export class LoginRechecksService {
  constructor(
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
   * a revocation list, an authority or a rule concerns may not have found it. Call it after the commit.
   */
  async confirm(provider: string, subject: string, hasChanged: boolean): Promise<void> {
    if (this.config.offboarding.enabled && hasChanged) {
      await this.identities.makeDue(provider, subject, new Date(this.clock.now()));
    }
  }
}
