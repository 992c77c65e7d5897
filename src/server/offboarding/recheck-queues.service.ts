import { Inject, Injectable } from '@nestjs/common';
import { Runtime } from '../../common/runtime/runtime.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { mtlsConfig, type MtlsSettings } from '../config/mtls.config.js';
import { providersConfig, type ConfiguredProviders } from '../config/providers.config.js';
import { CERTIFICATES } from '../../core/policy/admission/admission.js';
import { IdentityDueRepository } from '../storage/repositories/identity-due.repository.js';
import { AccountRecheckService } from './account-recheck.service.js';
import { leaseMsFor, ProviderQueue, type QueueLimits } from './provider-queue.js';

/** Creates the queue of each provider; {@link AccountRecheckService} executes each check. */
@Injectable()
export class RecheckQueuesService {
  constructor(
    private readonly identities: IdentityDueRepository,
    private readonly rechecks: AccountRecheckService,
    private readonly runtime: Runtime,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
    @Inject(providersConfig.KEY) private readonly providers: ConfiguredProviders,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {}

  /**
   * Returns the queues by provider; none where offboarding is disabled.
   *
   * @param dueWithinMs identities that become due within this time wait in their queue
   * @param stop ends the queues
   */
  create(dueWithinMs: number, stop: AbortSignal): ReadonlyMap<string, ProviderQueue> {
    const { offboarding } = this.auth;
    const queues = new Map<string, ProviderQueue>();
    if (!offboarding.enabled) {
      return queues;
    }
    const add = (id: string, timeoutSeconds: number, limits: QueueLimits): void => {
      const leaseMs = leaseMsFor(timeoutSeconds);
      const work = {
        lease: (limit: number) => this.identities.lease(id, limit, leaseMs, dueWithinMs),
        release: this.identities.release.bind(this.identities),
        recheck: this.rechecks.recheck.bind(this.rechecks),
      };
      queues.set(id, new ProviderQueue(work, limits, stop, this.runtime));
    };
    for (const provider of this.providers) {
      const timeoutSeconds = 'httpTimeoutSeconds' in provider ? provider.httpTimeoutSeconds : 0;
      add(provider.id, timeoutSeconds, offboarding);
    }
    if (this.mtls.enabled) {
      // OCSP responders receive one request per certificate; lists do not.
      const checksPerSecond = this.mtls.ocspEnabled ? offboarding.checksPerSecond : 0;
      add(CERTIFICATES, 0, { ...offboarding, checksPerSecond });
    }
    return queues;
  }
}
