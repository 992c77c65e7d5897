import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError, ERRORS, invalidRequest } from '../../common/errors.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import { Admission } from '../../auth/admission.js';
import { CERTIFICATES, judgeAdmission } from '../../policy/admission/admission.js';
import { allowedReturnTo } from '../../policy/flow/return-address.js';
import { judgeClientCertificate } from '../../policy/certificate/client-certificate.js';
import { ExternalFlowRepository } from '../../storage/repositories/one-time.repository.js';
import { KeylessLogin, type KeylessIdentity } from '../keyless/keyless-login.service.js';
import { isProofOf, PROOF_HASH, PROOF_HASH_MESSAGE, randomSecret } from '../login-proof.js';
import type { LoginOrigin } from '../../auth/sessions/login-origin.js';
import type { Login } from '../../auth/sessions/session-issuer.js';
import { PresentedCertificates } from './presented-certificate.js';

const PROVIDER = CERTIFICATES;

/** Contents of a claim code: the proven identity, not a token. */
interface ClaimContents {
  readonly subject: string;
  readonly login: string;
  readonly created: boolean;
  /** Lower-case hex; null = the code alone is enough. Codes of earlier versions have none. */
  readonly proofHash?: string | null;
}

/** Login with a client certificate, directly or through a browser. */
@Injectable()
export class CertificateLoginService {
  private readonly logger = new Logger('ClientCertificates');
  private readonly mtls: MtlsSettings;

  constructor(
    private readonly certificates: PresentedCertificates,
    private readonly keyless: KeylessLogin,
    private readonly claims: ExternalFlowRepository,
    private readonly admission: Admission,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    @Inject(mtlsConfig.KEY) mtls: ConfigType<typeof mtlsConfig>,
  ) {
    this.mtls = mtls;
  }

  /**
   * @throws AppError `not-found` (switched off), `mtls-required`, `not-eligible`, and what
   *   {@link KeylessLogin.logIn} throws
   */
  async logIn(request: IncomingMessage, origin: LoginOrigin): Promise<Login> {
    this.admission.require(PROVIDER, 'login', 'keyless');
    return this.keyless.logIn(this.identify(request), origin);
  }

  /**
   * The address that requests the browser's certificate.
   *
   * @throws AppError `not-found`, `invalid-return-to`, `invalid-request`
   */
  start(returnTo: unknown, proofHash: unknown): string {
    const refusal = this.refusal();
    const address = this.returnAddress(returnTo);
    const hash = toProofHash(proofHash);
    if (refusal !== null) {
      return this.refusedReturn(address, refusal);
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
    const url = this.returnAddress(returnTo);
    const hash = toProofHash(proofHash);
    if (refusal !== null) {
      return this.refusedReturn(url, refusal);
    }
    try {
      const identity = this.identify(request);
      const created = await this.keyless.provision(identity);
      url.searchParams.set('code', await this.issueCode(identity, created, hash));
      return url.href;
    } catch (error) {
      return this.refusedReturn(url, error);
    }
  }

  /**
   * A refused proof does not use the code up.
   *
   * @throws AppError `not-found`, `invalid-code`, `invalid-proof`, and what
   *   {@link KeylessLogin.logIn} throws
   */
  async claim(code: string, proof: string | null, origin: LoginOrigin): Promise<Login> {
    this.admission.require(PROVIDER, 'login', 'keyless');
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
    const { subject, login, created } = contents;
    const answer = await this.keyless.logIn(this.identity(subject, login), origin);
    return { ...answer, created: created || answer.created };
  }

  /** @throws AppError `mtls-required` without a trusted certificate, `not-eligible` */
  private identify(request: IncomingMessage): KeylessIdentity {
    const presented = this.certificates.of(request);
    if (presented.kind === 'refused') {
      this.logRefusal(presented.reason);
    }
    if (presented.kind !== 'facts') {
      throw new AppError('mtls-required');
    }
    const verdict = judgeClientCertificate(presented.facts, this.mtls, this.clock.now());
    if (!verdict.isAllowed) {
      this.logRefusal(verdict.reason);
      throw new AppError('not-eligible', { provider: PROVIDER });
    }
    return this.identity(verdict.subject, verdict.login);
  }

  private identity(subject: string, login: string): KeylessIdentity {
    const known = { provider: PROVIDER, subject, authority: null, login, credentials: null };
    return { ...known, eligibility: { status: 'eligible' } };
  }

  private async issueCode(
    identity: KeylessIdentity,
    created: boolean,
    proofHash: string | null,
  ): Promise<string> {
    const code = randomSecret();
    const { subject, login } = identity;
    const contents = { subject, login, created, proofHash };
    const expiresAt = new Date(this.clock.now() + this.mtls.claimTtlSeconds * 1000);
    await this.claims.add('mtls-claim', code, contents, expiresAt);
    return code;
  }

  /** The refusal for the return address; null = admitted. @throws AppError `not-found` (switched off) */
  private refusal(): AppError | null {
    const decision = judgeAdmission(this.admission.table, PROVIDER, 'login', 'keyless');
    if (decision.isAllowed) {
      return null;
    }
    if (decision.code === 'not-found') {
      throw new AppError(decision.code);
    }
    return new AppError(decision.code);
  }

  /** The return address with the refusal; a fault is thrown on. */
  private refusedReturn(url: URL, error: unknown): string {
    if (!(error instanceof AppError) || ![401, 403, 409].includes(ERRORS[error.code].status)) {
      throw error;
    }
    this.audit.refuse(PROVIDER, error.code);
    url.searchParams.set('error', error.code.replaceAll('-', '_'));
    return url.href;
  }

  /** The client receives the code only; the reason is for the operator. */
  private logRefusal(reason: string): void {
    this.audit.refuse(PROVIDER, reason);
    this.logger.warn({ msg: 'client certificate refused', reason });
  }

  private returnAddress(returnTo: unknown): URL {
    const { returnToAllowPrefixes } = this.mtls;
    const url =
      typeof returnTo === 'string' ? allowedReturnTo(returnTo, returnToAllowPrefixes) : null;
    if (url === null) {
      throw new AppError('invalid-return-to');
    }
    return url;
  }
}

/** @throws AppError `invalid-request` */
function toProofHash(value: unknown): string | null {
  if (value === undefined) {
    return null;
  }
  if (typeof value !== 'string' || !PROOF_HASH.test(value)) {
    throw invalidRequest('proofHash', PROOF_HASH_MESSAGE);
  }
  return value.toLowerCase();
}

/**
 * A proof for a code that needs none is refused as well: the `proofHash` was lost on the way, so the
 * code is of another login than the one this client began.
 *
 * @throws AppError `invalid-proof`
 */
function checkProof(proofHash: string | null, proof: string | null): void {
  const isRight = proofHash === null ? proof === null : isProofOf(proof ?? '', proofHash);
  if (!isRight) {
    throw new AppError('invalid-proof');
  }
}
