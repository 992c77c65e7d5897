import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { IdentityEvents } from '../../auth/identity-events.js';
import { isUnavailable } from '../../common/errors.js';
import { authConfig } from '../../config/auth.config.js';
import { CERTIFICATES } from '../../policy/admission/admission.js';
import {
  CertificateFiles,
  type LoadedFiles,
} from '../../providers/certificate/certificate-files.js';
import {
  FetchedLists,
  newlyRevoked,
  type ListChange,
} from '../../providers/certificate/fetched-lists.js';
import { IdentityDueRepository } from '../../storage/repositories/identity-due.repository.js';

/** Serial numbers that one statement looks for. */
const BATCH = 10_000;

/**
 * Makes identities due when a revocation list names their certificate, or when the authorities change.
 * Every replica does so for the lists that it has read: one that still has the old list may have
 * re-checked the identity in between.
 */
@Injectable()
export class RevocationSignals implements OnModuleInit {
  private readonly logger = new Logger('ProviderSignals');

  constructor(
    private readonly files: CertificateFiles,
    private readonly lists: FetchedLists,
    private readonly identities: IdentityDueRepository,
    private readonly events: IdentityEvents,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
  ) {}

  onModuleInit(): void {
    if (this.auth.offboarding.enabled) {
      this.files.onChange((loaded, before) => void this.note(() => this.readFiles(loaded, before)));
      this.lists.onChange((change) => void this.note(() => this.makeDue([change])));
    }
  }

  private readFiles(loaded: LoadedFiles, before: LoadedFiles): Promise<number> {
    if (loaded.tls.ca !== before.tls.ca) {
      return this.identities.makeAllDue(CERTIFICATES);
    }
    const known = before.revocations ?? [];
    return this.makeDue((loaded.revocations ?? []).map((list) => newlyRevoked(list, known)));
  }

  private async makeDue(changes: readonly ListChange[]): Promise<number> {
    let made = 0;
    for (const { issuerDer, revoked } of changes) {
      for (let from = 0; from < revoked.length; from += BATCH) {
        const serials = revoked.slice(from, from + BATCH);
        made += await this.identities.makeCertificatesDue(issuerDer.toString('base64'), serials);
      }
    }
    return made;
  }

  /** While storage is away nothing is due earlier: the regular re-check finds the change. */
  private async note(work: () => Promise<number>): Promise<void> {
    try {
      const identities = await work();
      if (identities > 0) {
        this.logger.log({ msg: 'revocation signal', provider: CERTIFICATES, identities });
        this.events.emit('identities-due');
      }
    } catch (error) {
      const reason = isUnavailable(error) ? 'storage is unavailable' : String(error);
      this.logger.warn({ msg: 'revocation signal lost', reason });
    }
  }
}
