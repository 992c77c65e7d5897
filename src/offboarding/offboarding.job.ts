import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Interval } from '@nestjs/schedule';
import { IdentityEvents } from '../auth/identity-events.js';
import { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/errors.js';
import { authConfig } from '../config/auth.config.js';
import { mtlsConfig } from '../config/mtls.config.js';
import { providersConfig } from '../config/providers.config.js';
import { Metrics } from '../metrics/metrics.js';
import { OPERATOR_FAILURES } from '../providers/http/upstream-http.js';
import { ProviderHealth } from '../providers/provider-health.js';
import { CERTIFICATES } from '../policy/admission/admission.js';
import {
  IdentityDueRepository,
  type LeasedIdentity,
} from '../storage/repositories/identity-due.repository.js';
import { AccountRecheck, type RecheckOutcome } from './account-recheck.js';
import { leaseMsFor, ProviderQueue, type QueueLimits } from './provider-queue.js';

const TICK_MS = 2000;
const ADOPT_EVERY_MS = 10_000;
/** The query reads every identity, so scrapers share its result. */
const GAUGE_FRESH_MS = 30_000;

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
    private readonly events: IdentityEvents,
    private readonly metrics: Metrics,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
    @Inject(providersConfig.KEY) private readonly providers: ConfigType<typeof providersConfig>,
    @Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>,
  ) {}

  onModuleInit(): void {
    const { offboarding } = this.auth;
    if (!offboarding.enabled) {
      return;
    }
    for (const provider of this.providers) {
      const timeoutSeconds = provider.type === 'oidc' ? provider.httpTimeoutSeconds : 0;
      this.queues.set(provider.id, this.queueOf(provider.id, timeoutSeconds, offboarding));
    }
    if (this.mtls.enabled) {
      // Only responders are asked for each certificate.
      const checksPerSecond = this.mtls.ocspEnabled ? offboarding.checksPerSecond : 0;
      const limits = { ...offboarding, checksPerSecond };
      this.queues.set(CERTIFICATES, this.queueOf(CERTIFICATES, 0, limits));
    }
    this.events.on('identities-due', () => void this.runOnce());
  }

  /** Checks that are under way end; what is only leased goes back to the queue. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.runOnce();
  }

  /** Ends when everything that was due has been checked. The queues bound what overlaps. */
  @Interval(TICK_MS)
  async runOnce(): Promise<void> {
    if (this.queues.size === 0) {
      return;
    }
    try {
      this.adopting ??= this.adopt().finally(() => (this.adopting = null));
      await this.adopting;
    } catch (error) {
      this.logFailure(error);
      return;
    }
    const drained = await Promise.allSettled([...this.queues.values()].map((one) => one.drain()));
    for (const end of drained) {
      if (end.status === 'rejected') {
        this.logFailure(end.reason);
      }
    }
  }

  private queueOf(provider: string, timeoutSeconds: number, limits: QueueLimits): ProviderQueue {
    const leaseMs = leaseMsFor(timeoutSeconds);
    return new ProviderQueue(
      {
        // Those that become due before the next tick wait for their time in the queue.
        lease: (limit) => this.identities.lease(provider, limit, leaseMs, TICK_MS),
        release: (identities) => this.identities.release(identities),
        recheck: (identity, signal) => this.recheck(identity, signal),
      },
      limits,
      this.stopping.signal,
    );
  }

  private async recheck(identity: LeasedIdentity, signal: AbortSignal): Promise<RecheckOutcome> {
    const outcome = await this.rechecks.recheck(identity, signal);
    // The operator's fault, not the person's nor the provider's.
    const isRefused =
      outcome.kind === 'unknown' && OPERATOR_FAILURES.includes(outcome.reason ?? '');
    this.metrics.eligibilityChecks.inc({
      provider: identity.provider,
      outcome: isRefused ? (outcome.reason ?? '') : outcome.kind,
    });
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

  private logFailure(error: unknown): void {
    if (isUnavailable(error)) {
      this.logger.debug('Storage is unavailable: identities are checked when it is back.');
    } else {
      this.logger.error(error);
    }
  }
}

/** Adds why providers failed, at logins and re-checks alike. */
@Injectable()
export class ProviderFailureCounts implements OnModuleInit {
  constructor(
    private readonly health: ProviderHealth,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.observeCounts(
      'gatehouse_provider_failures_total',
      'Requests to identity providers that failed, and logins without a refresh token, by cause.',
      ['provider', 'cause'],
      () => this.health.counted().map(({ count, ...labels }) => ({ labels, count })),
    );
  }
}

/** Measures the age of the oldest definite answer: above the interval, the job is behind. */
@Injectable()
export class OldestCheckGauge implements OnModuleInit {
  private known: { readonly at: number; readonly oldest: Promise<number | null> } | null = null;

  constructor(
    private readonly identities: IdentityDueRepository,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
    @Inject(providersConfig.KEY) private readonly providers: ConfigType<typeof providersConfig>,
    @Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>,
  ) {}

  onModuleInit(): void {
    if (this.auth.offboarding.enabled) {
      this.metrics.observe(
        'gatehouse_eligibility_oldest_check_seconds',
        'Age of the oldest definite answer about a linked identity; 0 when there is none.',
        () => this.read(),
      );
    }
  }

  private async read(): Promise<number> {
    const now = this.clock.now();
    if (this.known === null || now - this.known.at > GAUGE_FRESH_MS) {
      const providers = this.providers.map(({ id }) => id);
      if (this.mtls.enabled) {
        providers.push(CERTIFICATES);
      }
      this.known = { at: now, oldest: this.identities.oldestCheck(providers) };
    }
    const oldest = await this.known.oldest;
    return oldest === null ? 0 : Math.max(now - oldest, 0) / 1000;
  }
}
