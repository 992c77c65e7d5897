import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { IdentityEvents } from '../../auth/identity.events.js';
import { isUnavailable } from '../../../common/errors.js';
import { Timers } from '../../../common/runtime/timers.js';
import { authConfig, type AuthSettings } from '../../config/auth.config.js';
import { IdentityDueRepository } from '../../storage/repositories/identity-due.repository.js';

/** Delays before storage that did not answer is used again. A long list may make a statement that takes too long. */
const FIRST_RETRY_MS = 2000;
const LONGEST_RETRY_MS = 60_000;

/** Re-checks identities before their time, where a signal concerns them. */
@Injectable()
export class RecheckSignalsService implements OnModuleDestroy {
  private readonly logger = new Logger('ProviderSignals');
  private readonly stopping = new AbortController();

  constructor(
    private readonly identities: IdentityDueRepository,
    private readonly events: IdentityEvents,
    private readonly timers: Timers,
    @Inject(authConfig.KEY) private readonly config: AuthSettings,
  ) {}

  onModuleDestroy(): void {
    this.stopping.abort();
  }

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

  /**
   * Makes identities due for a change that is noticed once, and starts their re-checks. While storage is unavailable it
   * tries again, until the server stops.
   * @param makeDue returns their number
   */
  async mark(makeDue: () => Promise<number>): Promise<number> {
    const { signal } = this.stopping;
    for (let delayMs = FIRST_RETRY_MS; ; delayMs = Math.min(delayMs * 2, LONGEST_RETRY_MS)) {
      try {
        const made = await makeDue();
        this.recheck(made);
        return made;
      } catch (error) {
        if (!isUnavailable(error) || signal.aborted) {
          throw error;
        }
        await this.timers.sleep(delayMs, signal).catch(() => undefined);
      }
    }
  }
}
