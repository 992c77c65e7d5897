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
   * Makes another stream, and re-checks every person of the provider: the events of the lost one are
   * not known.
   *
   * @throws StreamRefusedError, UpstreamError, AppError `unavailable`
   */
  async replace(stream: SignalStream): Promise<void> {
    const { provider } = stream;
    // An operator may have removed it.
    if ((await this.streams.find(stream))?.streamId !== stream.streamId) {
      return;
    }
    if (await this.streams.noteStatus(stream, 'missing', null)) {
      this.logger.warn({ msg: 'the transmitter has no such stream any more', provider });
      if (this.rechecks.isOn) {
        this.rechecks.announce(provider, await this.identities.makeAllDue(provider));
      }
    }
    const { stream: client } = this.providers.signalTokens(provider);
    const entry = this.config.find(({ id }) => id === provider);
    if (client === null || entry?.type !== 'oidc' || entry.sharedSignals === null) {
      return;
    }
    const { transmitter } = entry.sharedSignals;
    const made = await new StreamConnector(provider, entry.sharedSignals, client).connect(null);
    const verificationState = this.random.secret();
    await this.streams.save({ provider, transmitter, ...made, verificationState });
    this.logger.warn({ msg: 'made another stream at the transmitter', provider });
  }
}
