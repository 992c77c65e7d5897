import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AccountRecheck, type RecheckOutcome } from '../auth/account-recheck.js';
import { DueIdentities } from '../auth/due-identities.js';
import { AppError } from '../common/errors.js';
import { SETTINGS, type ProviderSettings, type Settings } from '../config/settings.js';
import { Metrics } from '../metrics/metrics.js';
import { IdentityDueRepository, type LeasedIdentity } from '../storage/identity-due.repository.js';
import { leaseMsFor, ProviderQueue } from './provider-queue.js';

const TICK_MS = 2000;
const ADOPT_EVERY_MS = 10_000;

/**
 * Decides which identities are re-checked and when; what becomes of one is AccountRecheck's. Every
 * replica ticks: leases keep them off each other's identities, so there is no leader to lose.
 */
@Injectable()
export class OffboardingJob implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(OffboardingJob.name);
  private readonly stopping = new AbortController();
  private readonly queues = new Map<string, ProviderQueue>();
  private adopting: Promise<void> | null = null;
  private adoptAgainAt = 0;

  constructor(
    private readonly identities: IdentityDueRepository,
    private readonly rechecks: AccountRecheck,
    private readonly due: DueIdentities,
    private readonly metrics: Metrics,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    const { offboarding } = this.settings.auth;
    if (!offboarding.enabled) {
      return;
    }
    for (const provider of this.settings.providers) {
      this.queues.set(provider.id, this.queueOf(provider));
    }
    this.due.onDue(() => void this.runOnce());
  }

  /** Ends when everything that was due has been checked. The queues bound what overlaps. */
  @Interval(TICK_MS)
  async tick(): Promise<void> {
    if (this.queues.size > 0) {
      await this.runOnce();
    }
  }

  /** Checks that are under way end; what is only leased goes back to the queue. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.runOnce();
  }

  private async runOnce(): Promise<void> {
    try {
      this.adopting ??= this.adopt().finally(() => {
        this.adopting = null;
      });
      await this.adopting;
    } catch (error) {
      this.complain(error);
      return;
    }
    const drained = await Promise.allSettled([...this.queues.values()].map((one) => one.drain()));
    for (const end of drained) {
      if (end.status === 'rejected') {
        this.complain(end.reason);
      }
    }
  }

  private queueOf(provider: ProviderSettings): ProviderQueue {
    const leaseMs = leaseMsFor(provider.type === 'oidc' ? provider.httpTimeoutSeconds : 0);
    return new ProviderQueue(
      {
        lease: (limit) => this.identities.lease(provider.id, limit, leaseMs),
        release: (identities) => this.identities.release(identities),
        recheck: (identity, signal) => this.recheck(identity, signal),
      },
      this.settings.auth.offboarding,
      this.stopping.signal,
    );
  }

  private async recheck(identity: LeasedIdentity, signal: AbortSignal): Promise<RecheckOutcome> {
    const outcome = await this.rechecks.recheck(identity, signal);
    this.metrics.eligibilityChecks.inc({ provider: identity.provider, outcome: outcome.kind });
    return outcome;
  }

  /**
   * Identities that were linked while offboarding was off have no time to be checked at yet; while it
   * is being rolled out, replicas for which it is still off go on to link some.
   */
  private async adopt(): Promise<void> {
    while (performance.now() >= this.adoptAgainAt && !this.stopping.signal.aborted) {
      if (!(await this.identities.adopt([...this.queues.keys()]))) {
        this.adoptAgainAt = performance.now() + ADOPT_EVERY_MS;
      }
    }
  }

  private complain(error: unknown): void {
    if (error instanceof AppError && error.code === 'unavailable') {
      this.logger.debug('Storage is away: identities are checked when it is back.');
    } else {
      this.logger.error(error);
    }
  }
}
