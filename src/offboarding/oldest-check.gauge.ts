import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { Metrics } from '../metrics/metrics.js';
import { IdentityDueRepository } from '../storage/identity-due.repository.js';

/** It reads every identity, so scrapers share an answer. */
const FRESH_MS = 30_000;

/** Tells how old the oldest definite answer is: above the interval, the job is behind. */
@Injectable()
export class OldestCheckGauge implements OnModuleInit {
  private known: { readonly at: number; readonly oldest: Promise<number | null> } | null = null;

  constructor(
    private readonly identities: IdentityDueRepository,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    if (this.settings.auth.offboarding.enabled) {
      this.metrics.observe(
        'eligibility_oldest_check_seconds',
        'Age of the oldest definite answer about a linked identity; 0 when there is none.',
        () => this.read(),
      );
    }
  }

  private async read(): Promise<number> {
    const now = this.clock.now();
    if (this.known === null || now - this.known.at > FRESH_MS) {
      const providers = this.settings.providers.map(({ id }) => id);
      this.known = { at: now, oldest: this.identities.oldestCheck(providers) };
    }
    const oldest = await this.known.oldest;
    return oldest === null ? 0 : Math.max(now - oldest, 0) / 1000;
  }
}
