import { Inject, Injectable, Logger } from '@nestjs/common';
import { IdentityEvents } from '../../auth/identity.events.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { IdentityDueRepository } from '../../storage/repositories/identity-due.repository.js';

/** Re-checks identities before their time, where a signal concerns them. */
@Injectable()
export class RecheckSignalsService {
  private readonly logger = new Logger('ProviderSignals');

  constructor(
    private readonly identities: IdentityDueRepository,
    private readonly events: IdentityEvents,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {}

  /** True if signals have an effect, which requires re-checks. */
  get isOn(): boolean {
    return this.config.offboarding.enabled;
  }

  /** Makes the identity due at once. @throws AppError `unavailable` */
  async makeDue(provider: string, subject: string, now: Date): Promise<void> {
    this.announce(provider, await this.identities.makeDue(provider, subject, now));
  }

  /** Starts the re-checks that a signal made due. @param made number of identities */
  announce(provider: string, made: number): void {
    this.logger.log({ msg: 'push signal', provider, identities: made });
    this.recheck(made);
  }

  /** Starts the re-checks of identities that are due. @param made their number */
  recheck(made: number): void {
    if (made > 0) {
      this.events.emit('identities-due');
    }
  }
}
