import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ProviderRegistry } from '../providers/provider.registry.js';
import { IdentityRepository } from '../storage/repositories/identity.repository.js';
import { StorageLifecycleService } from '../storage/storage-lifecycle.service.js';

/** Logs at start the identities that no login can match, because another issuer named them. */
@Injectable()
export class ForeignIdentitiesService implements OnModuleInit {
  private readonly logger = new Logger(ForeignIdentitiesService.name);

  constructor(
    private readonly identities: IdentityRepository,
    private readonly providers: ProviderRegistry,
    private readonly storage: StorageLifecycleService,
  ) {}

  onModuleInit(): void {
    this.storage.beforeReady(() => {
      // It reads every identity once; readiness does not wait for it.
      void this.report().catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : undefined;
        this.logger.warn({ msg: 'identities of other issuers were not counted', error: reason });
      });
      return Promise.resolve();
    });
  }

  private async report(): Promise<void> {
    for (const provider of this.providers.ids()) {
      const authority = this.providers.authority(provider);
      const found = authority && (await this.identities.foreign(provider, authority));
      for (const { issuer, identities } of found ?? []) {
        const msg =
          'identities of another issuer match no login; see docs/providers-oidc.md, Change the issuer';
        this.logger.warn({ msg, provider, issuer, identities });
      }
    }
  }
}
