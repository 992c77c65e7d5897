import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError, ERRORS } from '../../common/errors.js';
import { SETTINGS, type MtlsSettings, type Settings } from '../../config/settings.js';
import { allowedReturnTo } from '../../policy/client-certificate-return.js';
import { judgeClientCertificate } from '../../policy/client-certificate.js';
import { ExternalFlowRepository } from '../../storage/external-flow.repository.js';
import { KeylessLogin, type KeylessPerson } from '../keyless/keyless-login.service.js';
import { isProofOf, PROOF_HASH } from '../login-proof.js';
import type { LoginOrigin } from '../sessions/login-origin.js';
import type { Login } from '../sessions/session-issuer.js';
import { PresentedCertificates } from './presented-certificate.js';

/** The provider id of identities that a certificate names. */
const PROVIDER = 'mtls';
const CODE_BYTES = 32;

/** What a claim code stands for: who was proven, not a token. */
interface ClaimContents {
  readonly subject: string;
  readonly login: string;
  readonly created: boolean;
  /** Lower-case hex; null = the code alone is enough. Codes of earlier versions have none. */
  readonly proofHash?: string | null;
}

/** Logs in whom a client certificate names: at once, or by way of a browser. */
@Injectable()
export class CertificateLogin {
  private readonly logger = new Logger('ClientCertificates');
  private readonly mtls: MtlsSettings;

  constructor(
    private readonly certificates: PresentedCertificates,
    private readonly keyless: KeylessLogin,
    private readonly claims: ExternalFlowRepository,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    @Inject(SETTINGS) { mtls }: Settings,
  ) {
    this.mtls = mtls;
  }

  /**
   * @throws AppError `not-found` (switched off), `mtls-required`, `not-eligible`, and what
   *   {@link KeylessLogin.logIn} throws
   */
  async logIn(request: IncomingMessage, origin: LoginOrigin): Promise<Login> {
    this.requireEnabled();
    return this.keyless.logIn(this.identify(request), origin);
  }

  /**
   * The address that asks the browser for its certificate.
   *
   * @throws AppError `not-found`, `invalid-return-to`, `invalid-request`
   */
  start(returnTo: unknown, proofHash: unknown): string {
    const { href } = this.returnAddress(returnTo);
    const hash = toProofHash(proofHash);
    // Relative, so that a path in front of this server stays.
    const base = this.mtls.publicUrl === null ? '' : `${this.mtls.publicUrl}/v1/auth/mtls/`;
    const query = new URLSearchParams({ returnTo: href, ...(hash && { proofHash: hash }) });
    return `${base}complete?${query.toString()}`;
  }

  /**
   * Hands out a code for a login at the return address; a refusal goes there as `error`.
   *
   * @throws AppError `not-found`, `invalid-return-to`, `invalid-request`, `unavailable`
   */
  async complete(request: IncomingMessage, returnTo: unknown, proofHash: unknown): Promise<string> {
    const url = this.returnAddress(returnTo);
    const hash = toProofHash(proofHash);
    try {
      const person = this.identify(request);
      const created = await this.keyless.provision(person);
      url.searchParams.set('code', await this.issueCode(person, created, hash));
    } catch (error) {
      if (!(error instanceof AppError) || ![401, 403, 409].includes(ERRORS[error.code].status)) {
        throw error;
      }
      this.audit.refuse(PROVIDER, error.code);
      url.searchParams.set('error', error.code.replaceAll('-', '_'));
    }
    return url.href;
  }

  /**
   * A refused proof does not use the code up.
   *
   * @throws AppError `not-found`, `invalid-code`, `invalid-proof`, and what
   *   {@link KeylessLogin.logIn} throws
   */
  async claim(code: string, proof: string | null, origin: LoginOrigin): Promise<Login> {
    this.requireEnabled();
    const now = new Date(this.clock.now());
    const contents = await this.claims.takeChecked<ClaimContents>(
      'mtls-claim',
      code,
      now,
      (found) => checkProof(found.proofHash ?? null, proof),
    );
    if (contents === null) {
      throw new AppError('invalid-code');
    }
    const { subject, login, created } = contents;
    const answer = await this.keyless.logIn(this.person(subject, login), origin);
    return { ...answer, created: created || answer.created };
  }

  /** @throws AppError `mtls-required` when nobody believed showed one, `not-eligible` */
  private identify(request: IncomingMessage): KeylessPerson {
    const presented = this.certificates.of(request);
    if (presented.kind === 'absent') {
      throw new AppError('mtls-required');
    }
    if (presented.kind === 'refused') {
      this.tellRefusal(presented.reason);
      throw new AppError('mtls-required');
    }
    const verdict = judgeClientCertificate(presented.facts, this.mtls, this.clock.now());
    if (!verdict.isAllowed) {
      this.tellRefusal(verdict.reason);
      throw new AppError('not-eligible', { provider: PROVIDER });
    }
    return this.person(verdict.subject, verdict.login);
  }

  private person(subject: string, login: string): KeylessPerson {
    const { autoProvision } = this.mtls;
    const eligibility = { status: 'eligible' } as const;
    const person = { provider: PROVIDER, subject, authority: null, login, credentials: null };
    return { ...person, eligibility, autoProvision };
  }

  private async issueCode(
    person: KeylessPerson,
    created: boolean,
    proofHash: string | null,
  ): Promise<string> {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    const { subject, login } = person;
    const contents = { subject, login, created, proofHash };
    const expiresAt = new Date(this.clock.now() + this.mtls.claimTtlSeconds * 1000);
    await this.claims.add('mtls-claim', code, contents, expiresAt);
    return code;
  }

  /** The client learns the code alone; why a certificate was refused is for the operator. */
  private tellRefusal(reason: string): void {
    this.audit.refuse(PROVIDER, reason);
    this.logger.warn({ msg: 'client certificate refused', reason });
  }

  private returnAddress(returnTo: unknown): URL {
    this.requireEnabled();
    const { returnToAllowPrefixes } = this.mtls;
    const url =
      typeof returnTo === 'string' ? allowedReturnTo(returnTo, returnToAllowPrefixes) : null;
    if (url === null) {
      throw new AppError('invalid-return-to');
    }
    return url;
  }

  private requireEnabled(): void {
    if (!this.mtls.enabled) {
      throw new AppError('not-found');
    }
  }
}

/** @throws AppError `invalid-request` */
function toProofHash(value: unknown): string | null {
  if (value === undefined) {
    return null;
  }
  if (typeof value !== 'string' || !PROOF_HASH.test(value)) {
    const message = 'proofHash must be a SHA-256 in hex';
    throw new AppError('invalid-request', { details: [{ path: 'proofHash', message }] });
  }
  return value.toLowerCase();
}

/**
 * A proof for a code that asks for none is refused as well: the `proofHash` was lost on the way, so
 * another login than the one this client began has come back.
 *
 * @throws AppError `invalid-proof`
 */
function checkProof(proofHash: string | null, proof: string | null): void {
  const isRight = proofHash === null ? proof === null : isProofOf(proof ?? '', proofHash);
  if (!isRight) {
    throw new AppError('invalid-proof');
  }
}
