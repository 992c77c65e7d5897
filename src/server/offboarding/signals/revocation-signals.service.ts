import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { isUnavailable, logUnlessUnavailable } from '../../../common/errors.js';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import type { LoadedFiles } from '../../providers/certificate/certificate-files.js';
import { CertificateFilesService } from '../../providers/certificate/certificate-files.service.js';
import { RevocationListService } from '../../providers/certificate/revocation-list.service.js';
import { IdentityDueRepository } from '../../storage/repositories/identity-due.repository.js';
import { keyName, storedKey } from '../../../core/x509/certificate-reference.js';
import {
  isBelieved,
  newlyRevoked,
  type ListChange,
  type RevocationList,
} from '../../../core/x509/revocation-list.js';
import { issuerKeyOf, type IssuerKey } from '../../../core/x509/verify-signature.js';
import { RecheckSignalsService } from './recheck-signals.service.js';

const BATCH = 10_000;

/**
 * Every replica marks identities by the lists that it has read, because one with the old list may
 * have re-checked the identity in between.
 */
@Injectable()
export class RevocationSignalsService implements OnModuleInit, OnApplicationBootstrap {
  private readonly logger = new Logger('ProviderSignals');

  constructor(
    private readonly files: CertificateFilesService,
    private readonly lists: RevocationListService,
    private readonly identities: IdentityDueRepository,
    private readonly signals: RecheckSignalsService,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    if (this.signals.isOn) {
      this.files.onChange((loaded, before) => void this.note(() => this.readFiles(loaded, before)));
      this.lists.onChange((change) => void this.note(() => this.makeDue([change])));
      this.lists.onUnverified((issuerDer) => void this.learn(issuerDer));
    }
  }

  /** The files may have changed while no server ran. */
  onApplicationBootstrap(): void {
    const { revocations, trust } = this.files.current();
    if (this.signals.isOn && revocations !== null) {
      void this.note(() => this.readLists(revocations, []));
    }
    if (this.signals.isOn && trust !== null) {
      const keys = trust.anchors.map(keyName);
      void this.note(() => this.identities.makeUntrustedDue(keys));
    }
  }

  private readFiles(loaded: LoadedFiles, before: LoadedFiles): Promise<number> {
    return loaded.tls.ca === before.tls.ca
      ? this.readLists(loaded.revocations ?? [], before.revocations ?? [])
      : this.identities.makeAllDue(CERTIFICATES);
  }

  private async readLists(
    lists: readonly RevocationList[],
    before: readonly RevocationList[],
  ): Promise<number> {
    const known = await this.believed(before);
    const believed = await this.believed(lists);
    return this.makeDue(believed.map((list) => newlyRevoked(list, known)));
  }

  private async believed(lists: readonly RevocationList[]): Promise<RevocationList[]> {
    const found: RevocationList[] = [];
    for (const list of lists) {
      if (isBelieved(list, await this.keysOf(list.issuerDer), this.clock.now())) {
        found.push(list);
      }
    }
    return found;
  }

  /**
   * After a start no login has shown the path yet: its keys are those of the stored ones. Without them the next download
   * asks again.
   */
  private async learn(issuerDer: Buffer): Promise<void> {
    await logUnlessUnavailable(this.logger, async () =>
      this.lists.learn({ issuerDer, keys: await this.keysOf(issuerDer) }),
    );
  }

  private async keysOf(issuerDer: Buffer): Promise<IssuerKey[]> {
    const anchors = this.files.current().trust?.anchors ?? [];
    const name = issuerDer.toString('base64');
    const stored = await this.identities.issuerKeys(name, anchors.map(keyName));
    const named = anchors.filter(({ subjectDer }) => subjectDer.equals(issuerDer));
    return [
      ...named.map(issuerKeyOf),
      ...stored.map(({ key, signsLists }) => storedKey(key, signsLists)),
    ];
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

  private async note(work: () => Promise<number>): Promise<void> {
    try {
      const identities = await this.signals.mark(work);
      if (identities > 0) {
        this.logger.log({ msg: 'revocation signal', provider: CERTIFICATES, identities });
      }
    } catch (error) {
      const reason = isUnavailable(error) ? 'storage is unavailable' : String(error);
      this.logger.warn({ msg: 'revocation signal lost', reason });
    }
  }
}
