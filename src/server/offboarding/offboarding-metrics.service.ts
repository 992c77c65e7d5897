import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../common/runtime/clock.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { mtlsConfig, type MtlsSettings } from '../config/mtls.config.js';
import { providersConfig, type ConfiguredProviders } from '../config/providers.config.js';
import { MetricsService } from '../metrics/metrics.service.js';
import { CERTIFICATES } from '../../core/policy/admission/admission.js';
import { IdentityDueRepository } from '../storage/repositories/identity-due.repository.js';

/** The query reads every identity, so the result is cached for all scrapers. */
const GAUGE_FRESH_MS = 30_000;

/** Measures the delay of the re-checks. */
@Injectable()
export class OffboardingMetricsService implements OnModuleInit {
  private known: { readonly at: number; readonly oldest: Promise<number | null> } | null = null;

  constructor(
    private readonly identities: IdentityDueRepository,
    private readonly metrics: MetricsService,
    private readonly clock: Clock,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
    @Inject(providersConfig.KEY) private readonly providers: ConfiguredProviders,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {}

  onModuleInit(): void {
    if (this.auth.offboarding.enabled) {
      this.metrics.ask(
        'gatehouse_eligibility_oldest_check_seconds',
        'Age of the oldest definite answer about a linked identity; 0 when there is none.',
        () => this.oldestCheckAgeSeconds(),
      );
    }
  }

  /** An age above the interval shows that the job is behind. */
  private async oldestCheckAgeSeconds(): Promise<number> {
    const at = this.clock.elapsed();
    if (this.known === null || at - this.known.at > GAUGE_FRESH_MS) {
      const providers = this.providers.map(({ id }) => id);
      if (this.mtls.enabled) {
        providers.push(CERTIFICATES);
      }
      this.known = { at, oldest: this.identities.oldestCheck(providers) };
    }
    const oldest = await this.known.oldest;
    return oldest === null ? 0 : Math.max(this.clock.now() - oldest, 0) / 1000;
  }
}
