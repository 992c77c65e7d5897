import { Injectable, Logger } from '@nestjs/common';
import { QuietLog } from '../../../common/quiet-log.js';
import { Clock } from '../../../common/runtime/clock.js';
import { MetricsService } from '../../metrics/metrics.service.js';
import { SetError } from '../../providers/signals/security-event-tokens.js';
import { ProviderSignalRepository } from '../../storage/repositories/signals/provider-signal.repository.js';
import { SecurityEventsService } from './security-events.service.js';

/** Accepts security events, pushed and polled ones alike, and counts them. */
@Injectable()
export class EventIntakeService {
  private readonly logger = new Logger('ProviderSignals');
  private readonly refusals: QuietLog;

  constructor(
    private readonly events: SecurityEventsService,
    private readonly received: ProviderSignalRepository,
    private readonly metrics: MetricsService,
    private readonly clock: Clock,
  ) {
    this.refusals = new QuietLog(clock);
  }

  /** @throws AppError `not-found`, `unavailable`; SetError */
  async acceptPushed(
    provider: string,
    authorization: string | undefined,
    token: string,
  ): Promise<void> {
    await this.counting(provider, () => this.events.authenticate(provider, authorization));
    await this.accept(provider, token);
  }

  /** Returns once the effect of the event is stored. @throws as above */
  async accept(provider: string, token: string): Promise<void> {
    const now = this.clock.now();
    const { kind, outcome, happenedAt } = await this.counting(provider, () =>
      this.events.accept(provider, token, now),
    );
    this.metrics.sharedSignals.inc({ provider, kind, outcome });
    const lagMs = Math.max(this.clock.now() - happenedAt, 0);
    this.metrics.sharedSignalsLag.observe({ provider }, lagMs / 1000);
    const receivedAt = new Date(now);
    await this.received.note({ provider, kind: 'shared-signals', receivedAt });
  }

  private async counting<Result>(provider: string, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SetError) {
        const { failure } = error;
        this.metrics.sharedSignals.inc({ provider, kind: 'refused', outcome: failure });
        this.refusals.write(`${provider} ${failure}`, (others) => {
          const cause = String(error.cause instanceof Error ? error.cause : error);
          this.logger.warn({ msg: 'security event refused', provider, failure, cause, others });
        });
      }
      throw error;
    }
  }
}
