import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { providersConfig, type ConfiguredProviders } from '../../config/providers.config.js';
import { MetricsService } from '../../metrics/metrics.service.js';
import { SignalStreamRepository } from '../../storage/repositories/signals/signal-stream.repository.js';
import { ProviderSignalRepository } from '../../storage/repositories/signals/provider-signal.repository.js';

/** Measures the streams of security events that providers send. */
@Injectable()
export class StreamMetricsService implements OnModuleInit {
  constructor(
    private readonly streams: SignalStreamRepository,
    private readonly received: ProviderSignalRepository,
    private readonly metrics: MetricsService,
    private readonly clock: Clock,
    @Inject(providersConfig.KEY) private readonly config: ConfiguredProviders,
  ) {}

  onModuleInit(): void {
    if (!this.config.some((one) => one.type === 'oidc' && one.sharedSignals !== null)) {
      return;
    }
    this.metrics.observeEach(
      'gatehouse_signal_stream_state',
      'Always 1; the labels are the status of the stream at its transmitter (enabled, paused, disabled, missing), and the failure of the last request there (none where it was answered).',
      ['provider', 'state', 'failure'],
      async () =>
        (await this.streams.all()).map(({ provider, status: state, failure }) => {
          return { provider, state, failure: failure ?? 'none', value: 1 };
        }),
    );
    this.metrics.observeEach(
      'gatehouse_signal_stream_silent_seconds',
      'Time since the transmitter of a stream last sent an event or answered a poll. Without events, a verification is asked for every hour.',
      ['provider'],
      () => this.silence(),
    );
  }

  private async silence() {
    const received = await this.received.all();
    const now = this.clock.now();
    return (await this.streams.all()).map(({ provider, seenAt }) => {
      const last = received.find(
        (signal) => signal.provider === provider && signal.kind === 'shared-signals',
      );
      const at = Math.max(seenAt.getTime(), last?.receivedAt.getTime() ?? 0);
      return { provider, value: Math.max(now - at, 0) / 1000 };
    });
  }
}
