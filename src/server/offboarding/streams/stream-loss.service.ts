import { Inject, Injectable, Logger } from '@nestjs/common';
import { Random } from '../../../common/runtime/random.js';
import { providersConfig, type ConfiguredProviders } from '../../config/providers.config.js';
import { ProviderRegistry } from '../../providers/provider.registry.js';
import { StreamConnector } from '../../providers/signals/stream-connector.js';
import { IdentityDueRepository } from '../../storage/repositories/identity-due.repository.js';
import {
  SignalStreamRepository,
  type SignalStream,
} from '../../storage/repositories/signals/signal-stream.repository.js';
import { RecheckSignalsService } from '../signals/recheck-signals.service.js';

/** Replaces a stream that its transmitter removed. */
@Injectable()
export class StreamLossService {
  private readonly logger = new Logger('ProviderSignals');

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly streams: SignalStreamRepository,
    private readonly identities: IdentityDueRepository,
    private readonly rechecks: RecheckSignalsService,
    private readonly random: Random,
    @Inject(providersConfig.KEY) private readonly config: ConfiguredProviders,
  ) {}

  /**
   * Makes another stream, and re-checks every person of the provider: the events of the lost one are not known. While
   * none can be made, the first call re-checks them as well, and the last one again: events between the two are in no
   * stream.
   *
   * @throws StreamRefusedError, UpstreamError, AppError `unavailable`
   */
  async replace(stream: SignalStream): Promise<void> {
    const { provider } = stream;
    const known = await this.streams.find(stream);
    // An operator may have removed it.
    if (known?.streamId !== stream.streamId) {
      return;
    }
    const isNew = known.status !== 'missing';
    if (isNew) {
      this.logger.warn({ msg: 'the transmitter has no such stream any more', provider });
    }
    try {
      await this.connect(provider);
    } catch (error) {
      if (isNew) {
        await this.recheckAll(provider);
        await this.streams.noteStatus(stream, 'missing', null);
      }
      throw error;
    }
  }

  /** A call that ends between its steps is repeated as a whole: the stored stream is still the lost one. */
  private async connect(provider: string): Promise<void> {
    const { stream: client } = this.providers.signalTokens(provider);
    const entry = this.config.find(({ id }) => id === provider);
    if (client === null || entry?.type !== 'oidc' || entry.sharedSignals === null) {
      return;
    }
    const { transmitter } = entry.sharedSignals;
    const made = await new StreamConnector(provider, entry.sharedSignals, client).connect(null);
    await this.recheckAll(provider);
    const verificationState = this.random.secret();
    await this.streams.save({ provider, transmitter, ...made, verificationState });
    this.logger.warn({ msg: 'made another stream at the transmitter', provider });
  }

  private async recheckAll(provider: string): Promise<void> {
    if (this.rechecks.isOn) {
      this.rechecks.announce(provider, await this.identities.makeAllDue(provider));
    }
  }
}
