import { Inject, Injectable } from '@nestjs/common';
import { Runtime } from '../../../common/runtime/runtime.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import type { Transaction } from '../../storage/database.service.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';

/** Lifetime from the start to the address that requests the certificate. */
const START_LIFETIME_MS = 10 * 60_000;

type Kind = 'mtls-claim' | 'mtls-connect';

/** The single-use states and codes that a browser carries between the steps of a flow. */
@Injectable()
export class CertificateCodeService {
  constructor(
    private readonly flows: ExternalFlowRepository,
    private readonly runtime: Runtime,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {}

  /** Stores the start of connecting a certificate. @returns its `state` */
  async begin(contents: object): Promise<string> {
    const state = this.runtime.random.secret();
    const expiresAt = new Date(this.runtime.clock.now() + START_LIFETIME_MS);
    await this.flows.add('mtls-connect-start', state, contents, expiresAt);
    return state;
  }

  /** Takes what {@link begin} stored, once. @returns null when there is none, or it has expired */
  takeStart<Contents>(state: string): Promise<Contents | null> {
    return this.flows.take<Contents>('mtls-connect-start', state, this.now());
  }

  /** Stores a presented certificate with the time as `shownAt`. @returns its code */
  async issue(kind: Kind, contents: object): Promise<string> {
    const code = this.runtime.random.secret();
    const shownAt = this.runtime.clock.now();
    const expiresAt = new Date(shownAt + this.mtls.claimTtlSeconds * 1000);
    await this.flows.add(kind, code, { ...contents, shownAt }, expiresAt);
    return code;
  }

  read<Contents>(kind: Kind, code: string): Promise<Contents | null> {
    return this.flows.read<Contents>(kind, code, this.now());
  }

  /** @param tx the transaction that uses the contents: if it fails, the code is kept */
  take<Contents>(kind: Kind, code: string, tx: Transaction): Promise<Contents | null> {
    return this.flows.take<Contents>(kind, code, this.now(), tx);
  }

  /** Takes the contents of a code, once. @param check throws to refuse; the code is then kept */
  takeChecked<Contents>(
    kind: Kind,
    code: string,
    check: (contents: Contents) => void,
  ): Promise<Contents | null> {
    return this.flows.takeChecked<Contents>(kind, code, this.now(), check);
  }

  private now(): Date {
    return new Date(this.runtime.clock.now());
  }
}
