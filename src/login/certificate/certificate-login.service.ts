import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { mtlsConfig } from '../../config/mtls.config.js';
import { Admission } from '../../auth/admission.js';
import { CERTIFICATES, judgeAdmission } from '../../policy/admission/admission.js';
import { endOf } from '../../policy/certificate/certificate-record.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import {
  KeylessLogin,
  standsOnLastAnswer,
  type KeylessIdentity,
} from '../keyless/keyless-login.service.js';
import { randomSecret } from '../../common/random-secret.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import type { Login } from '../../auth/sessions/session-issuer.js';
import {
  CertificateIdentities,
  type NamedCertificate,
  type ProvenCertificate,
} from './certificate-identities.js';
import { checkProof, returnAddress, refusedReturn, toProofHash } from './certificate-return.js';

/** Contents of a claim code: the proven identity, not a token. */
interface ClaimContents extends Pick<NamedCertificate, 'subject' | 'login'> {
  /** Codes of earlier versions have none. */
  readonly record?: NamedCertificate['record'];
  readonly created: boolean;
  /** Lower-case hex; null = the code alone is enough. Codes of earlier versions have none. */
  readonly proofHash?: string | null;
}

/** Login with a client certificate, directly or through a browser. */
@Injectable()
export class CertificateLoginService {
  constructor(
    private readonly certificates: CertificateIdentities,
    private readonly keyless: KeylessLogin,
    private readonly claims: ExternalFlowRepository,
    private readonly admission: Admission,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    @Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>,
  ) {}

  /**
   * @throws AppError `not-found` (switched off), and what {@link CertificateIdentities.of} and
   *   {@link KeylessLogin.logIn} throw
   */
  async logIn(request: IncomingMessage, origin: LoginOrigin): Promise<Login> {
    this.admission.require(CERTIFICATES, 'login', 'keyless');
    return this.keyless.logIn(this.identity(await this.certificates.of(request)), origin);
  }

  /**
   * The address that requests the browser's certificate.
   *
   * @throws AppError `not-found`, `invalid-return-to`, `invalid-request`
   */
  start(returnTo: unknown, proofHash: unknown): string {
    const refusal = this.refusal();
    const address = returnAddress(returnTo, this.mtls);
    const hash = toProofHash(proofHash);
    if (refusal !== null) {
      return refusedReturn(address, refusal, this.audit);
    }
    const { href } = address;
    // Relative, so that the path prefix of a proxy is kept.
    const base = this.mtls.publicUrl === null ? '' : `${this.mtls.publicUrl}/v1/auth/mtls/`;
    const query = new URLSearchParams({ returnTo: href, ...(hash && { proofHash: hash }) });
    return `${base}complete?${query.toString()}`;
  }

  /**
   * Adds a code for a login to the return address; a refusal is its `error`.
   *
   * @throws AppError `not-found`, `invalid-return-to`, `invalid-request`, `unavailable`
   */
  async complete(request: IncomingMessage, returnTo: unknown, proofHash: unknown): Promise<string> {
    const refusal = this.refusal();
    const url = returnAddress(returnTo, this.mtls);
    const hash = toProofHash(proofHash);
    if (refusal !== null) {
      return refusedReturn(url, refusal, this.audit);
    }
    try {
      const proven = await this.certificates.of(request);
      const identity = this.identity(proven);
      // An old answer creates nothing, and the claim asks again.
      const created = !standsOnLastAnswer(identity) && (await this.keyless.provision(identity));
      url.searchParams.set('code', await this.issueCode(proven, created, hash));
      return url.href;
    } catch (error) {
      return refusedReturn(url, error, this.audit);
    }
  }

  /**
   * A refused proof does not use the code up.
   *
   * @throws AppError `not-found`, `invalid-code`, `invalid-proof`, and what
   *   {@link KeylessLogin.logIn} throws
   */
  async claim(code: string, proof: string | null, origin: LoginOrigin): Promise<Login> {
    this.admission.require(CERTIFICATES, 'login', 'keyless');
    const now = new Date(this.clock.now());
    const contents = await this.claims.takeChecked<ClaimContents>(
      'mtls-claim',
      code,
      now,
      ({ proofHash = null }) => checkProof(proofHash, proof),
    );
    if (contents === null) {
      throw new AppError('invalid-code');
    }
    const { subject, login, record = null, created } = contents;
    const proven = await this.certificates.prove({ subject, login, record });
    const answer = await this.keyless.logIn(this.identity(proven), origin);
    return { ...answer, created: created || answer.created };
  }

  private identity({ subject, login, record, eligibility }: ProvenCertificate): KeylessIdentity {
    const known = { provider: CERTIFICATES, subject, authority: null, credentials: null };
    const { tokenTtlSeconds: ttlSeconds } = this.mtls;
    const limits = { ttlSeconds, endsBy: endOf(record), certificate: record };
    return { ...known, login, certificate: record, eligibility, limits };
  }

  private async issueCode(
    { subject, login, record }: ProvenCertificate,
    created: boolean,
    proofHash: string | null,
  ): Promise<string> {
    const code = randomSecret();
    const contents: ClaimContents = { subject, login, record, created, proofHash };
    const expiresAt = new Date(this.clock.now() + this.mtls.claimTtlSeconds * 1000);
    await this.claims.add('mtls-claim', code, contents, expiresAt);
    return code;
  }

  /** The refusal for the return address; null = admitted. @throws AppError `not-found` (switched off) */
  private refusal(): AppError | null {
    const decision = judgeAdmission(this.admission.table, CERTIFICATES, 'login', 'keyless');
    const refusal = decision.isAllowed ? null : new AppError(decision.code);
    if (refusal?.code === 'not-found') {
      throw refusal;
    }
    return refusal;
  }
}
