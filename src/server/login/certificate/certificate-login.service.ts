import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { AppError, orRefuse } from '../../../common/errors.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import { AdmissionService } from '../../auth/admission.service.js';
import { CERTIFICATES, judgeAdmission } from '../../../core/policy/admission/admission.js';
import { endOf } from '../../../core/policy/certificate/certificate-record.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import { standsOnLastAnswer, type KeylessIdentity } from '../keyless/keyless-identity.js';
import { KeylessLoginService } from '../keyless/keyless-login.service.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import type { Login } from '../../auth/sessions/session-issuer.service.js';
import {
  CertificateIdentitiesService,
  type NamedCertificate,
  type ProvenCertificate,
} from './certificate-identities.service.js';
import { CertificateReturnService, checkProof, toProofHash } from './certificate-return.service.js';

interface ClaimContents extends NamedCertificate {
  readonly created: boolean;
  /** When the certificate was shown, Unix milliseconds. */
  readonly shownAt: number;
  /** Lower-case hex; null = the code alone is enough. */
  readonly proofHash: string | null;
}

@Injectable()
export class CertificateLoginService {
  constructor(
    private readonly certificates: CertificateIdentitiesService,
    private readonly keyless: KeylessLoginService,
    private readonly flows: ExternalFlowRepository,
    private readonly returns: CertificateReturnService,
    private readonly admission: AdmissionService,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {}

  async logIn(request: IncomingMessage, origin: LoginOrigin): Promise<Login> {
    this.admission.require(CERTIFICATES, 'login', 'keyless');
    const proven = await this.certificates.of(request);
    const login = await this.keyless.logIn(this.identity(proven), origin);
    await this.certificates.confirm(proven);
    return login;
  }

  /** @returns the address that requests the browser's certificate */
  start(returnTo: unknown, proofHash: unknown): string {
    const refusal = this.refusal();
    const address = this.returns.addressOf(returnTo);
    const hash = toProofHash(proofHash);
    if (refusal !== null) {
      return this.returns.refused(address, refusal);
    }
    const query = { returnTo: address.href, ...(hash && { proofHash: hash }) };
    return this.returns.completion('/v1/auth/mtls', query);
  }

  /** Adds a code for a login, or an `error`, to the return address. */
  async complete(request: IncomingMessage, returnTo: unknown, proofHash: unknown): Promise<string> {
    const refusal = this.refusal();
    const url = this.returns.addressOf(returnTo);
    const hash = toProofHash(proofHash);
    if (refusal !== null) {
      return this.returns.refused(url, refusal);
    }
    try {
      const proven = await this.certificates.of(request);
      const identity = this.identity(proven);
      // An old answer creates no account; the claim checks again.
      const created = !standsOnLastAnswer(identity) && (await this.keyless.provision(identity));
      const { subject, login, record } = proven;
      const contents: Omit<ClaimContents, 'shownAt'> = {
        subject,
        login,
        record,
        created,
        proofHash: hash,
      };
      return await this.returns.shown(url, 'mtls-claim', contents);
    } catch (error) {
      return this.returns.refused(url, error);
    }
  }

  /** A refused proof does not use the code up. */
  async claim(code: string, proof: string | null, origin: LoginOrigin): Promise<Login> {
    this.admission.require(CERTIFICATES, 'login', 'keyless');
    const contents = orRefuse(
      await this.flows.takeChecked<ClaimContents>('mtls-claim', code, ({ proofHash }) =>
        checkProof(proofHash, proof),
      ),
      'invalid-code',
    );
    const { subject, login, record, created, shownAt } = contents;
    const proven = await this.certificates.verify({ subject, login, record }, origin.address);
    const identity = { ...this.identity(proven), authenticatedAt: shownAt };
    const answer = await this.keyless.logIn(identity, origin);
    await this.certificates.confirm(proven);
    return { ...answer, created: created || answer.created };
  }

  private identity({ record, ...proven }: ProvenCertificate): KeylessIdentity {
    const known = { provider: CERTIFICATES, authority: null, credentials: null };
    const { tokenTtlSeconds: ttlSeconds } = this.mtls;
    const limits = { ttlSeconds, endsBy: endOf(record), certificate: record };
    return { ...known, ...proven, certificate: record, limits };
  }

  /** @returns null = admitted @throws AppError `not-found` (disabled) */
  private refusal(): AppError | null {
    const decision = judgeAdmission(this.admission.table, CERTIFICATES, 'login', 'keyless');
    const refusal = decision.isAllowed ? null : new AppError(decision.code);
    if (refusal?.code === 'not-found') {
      throw refusal;
    }
    return refusal;
  }
}
