import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isUnavailable } from '../../../common/errors.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { providersConfig, type ConfiguredProviders } from '../../config/providers.config.js';
import { SignalStreamRepository } from '../../storage/repositories/signals/signal-stream.repository.js';
import { StreamPollerService, type PolledStream } from './stream-poller.service.js';

/** A transmitter that answers each poll at once is asked this often. */
const TICK_MS = 2000;
/** Longer than a poll and its events take. A replica that was killed delays the next by this time. */
const LEASE_MS = 45_000;
/** An answer that took this long waited for events, so the next poll follows at once. */
const WAITED_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;

interface Progress {
  running: Promise<void> | null;
  failures: number;
  /** By the monotonic clock. */
  pausedUntil: number;
}

/**
 * Polls the streams of transmitters that push nothing to here (RFC 8936). Every replica runs it, and
 * a lease lets one poll a stream.
 */
@Injectable()
export class EventPollingJob implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger('ProviderSignals');
  private readonly stopping = new AbortController();
  private readonly streams = new Map<string, Progress & { readonly transmitter: string }>();
  private readonly replica: string;

  constructor(
    private readonly poller: StreamPollerService,
    private readonly leases: SignalStreamRepository,
    private readonly runtime: Runtime,
    @Inject(providersConfig.KEY) private readonly providers: ConfiguredProviders,
  ) {
    this.replica = runtime.random.uuid();
  }

  onModuleInit(): void {
    for (const provider of this.providers) {
      const settings = provider.type === 'oidc' ? provider.sharedSignals : null;
      if (settings?.delivery === 'poll') {
        const { transmitter } = settings;
        const progress = { transmitter, running: null, failures: 0, pausedUntil: -Infinity };
        this.streams.set(provider.id, progress);
      }
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.streams.values()].map(async ({ running }) => running));
    if (this.streams.size > 0) {
      await this.leases.release(this.replica).catch(() => undefined);
    }
  }

  @Interval(TICK_MS)
  tick(): void {
    for (const [provider, stream] of this.streams) {
      if (!this.stopping.signal.aborted && this.runtime.clock.elapsed() >= stream.pausedUntil) {
        stream.running ??= this.run(provider, stream).finally(() => (stream.running = null));
      }
    }
  }

  /** Polls as long as there are events, or the transmitter waits for them. Never rejects. */
  private async run(
    provider: string,
    stream: Progress & { readonly transmitter: string },
  ): Promise<void> {
    try {
      let polled: PolledStream = { ack: [], setErrs: {}, isIdle: false, isSlow: false };
      do {
        const leased = await this.leases.lease(
          { provider, transmitter: stream.transmitter },
          this.replica,
          LEASE_MS,
        );
        if (leased === null) {
          return;
        }
        const began = this.runtime.clock.elapsed();
        polled = await this.poller.poll(leased, polled, this.stopping.signal);
        stream.failures = 0;
        if (polled.isIdle && this.runtime.clock.elapsed() - began < WAITED_MS) {
          return;
        }
      } while (!this.stopping.signal.aborted);
    } catch (error) {
      this.pause(provider, stream, error);
    }
  }

  private pause(provider: string, stream: Progress, error: unknown): void {
    if (this.stopping.signal.aborted) {
      return;
    }
    const pauseMs = Math.min(TICK_MS * 2 ** stream.failures, LONGEST_PAUSE_MS);
    stream.pausedUntil = this.runtime.clock.elapsed() + pauseMs;
    if (!isUnavailable(error)) {
      stream.failures += 1;
      this.logger.warn({ msg: 'poll for security events failed', provider, cause: String(error) });
    }
  }
}
