import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isUnavailable } from '../../../common/errors.js';
import { Clock } from '../../../common/runtime/clock.js';
import type { SharedSignalsSettings } from '../../config/providers-file/provider-settings.js';
import { providersConfig, type ConfiguredProviders } from '../../config/providers.config.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { StreamRefusedError } from '../../providers/signals/stream-client.js';
import {
  SignalStreamRepository,
  type SignalStream,
} from '../../storage/repositories/signals/signal-stream.repository.js';
import { failureOf } from './stream-poller.service.js';
import { StreamLossService } from './stream-loss.service.js';

const TICK_MS = 10_000;
const CHECK_EVERY_MS = 300_000;
/** Without events, a verification shows that they would arrive. */
const VERIFY_AFTER_MS = 3_600_000;

/** Reads the status of each stream at its transmitter, and asks a silent one for a verification. */
@Injectable()
export class StreamCheckJob implements BeforeApplicationShutdown {
  private readonly logger = new Logger('ProviderSignals');
  private running: Promise<void> | null = null;

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly streams: SignalStreamRepository,
    private readonly losses: StreamLossService,
    private readonly clock: Clock,
    @Inject(providersConfig.KEY) private readonly config: ConfiguredProviders,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    await this.running;
  }

  /** Never rejects. */
  @Interval(TICK_MS)
  async run(): Promise<void> {
    this.running ??= this.checkAll().finally(() => (this.running = null));
    await this.running;
  }

  private async checkAll(): Promise<void> {
    for (const provider of this.config) {
      const settings = provider.type === 'oidc' ? provider.sharedSignals : null;
      if (settings?.management) {
        await this.check(provider.id, settings).catch((error: unknown) => {
          if (!isUnavailable(error)) {
            const cause = String(error);
            this.logger.warn({ msg: 'stream not checked', provider: provider.id, cause });
          }
        });
      }
    }
  }

  private async check(provider: string, { transmitter }: SharedSignalsSettings): Promise<void> {
    const stream = await this.streams.takeCheck({ provider, transmitter }, CHECK_EVERY_MS);
    if (stream === null) {
      return;
    }
    try {
      await this.ask(stream);
      await this.streams.noteFailure(stream, null);
    } catch (error) {
      if (error instanceof StreamRefusedError && error.reason === 'missing') {
        // The next poll finds it too, and only one of the two may make another stream.
        await (stream.pollUrl === null ? this.losses.replace(stream) : undefined);
        return;
      }
      await this.streams.noteFailure(stream, failureOf(error));
      throw error;
    }
  }

  private async ask(stream: SignalStream): Promise<void> {
    const { stream: client } = this.providers.signalTokens(stream.provider);
    if (client === null) {
      return;
    }
    const { status, reason = null } = await client.status(stream.streamId);
    if (await this.streams.noteStatus(stream, status, reason?.replaceAll('\0', '') ?? null)) {
      const { provider } = stream;
      this.logger.warn({ msg: 'the transmitter changed its stream', provider, status });
    }
    const isSilent = this.clock.now() - stream.seenAt.getTime() > VERIFY_AFTER_MS;
    const isUnverified = stream.verifiedAt === null;
    if (status === 'enabled' && (isSilent || isUnverified)) {
      await client.verify(stream.streamId, stream.verificationState);
    }
  }
}
