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
   * @throws AppError `not-found`, `invalid-return-to`
   */
  start(returnTo: unknown): string {
    const { href } = this.returnAddress(returnTo);
    // Relative, so that a path in front of this server stays.
    const base = this.mtls.publicUrl === null ? '' : `${this.mtls.publicUrl}/v1/auth/mtls/`;
    return `${base}complete?returnTo=${encodeURIComponent(href)}`;
  }

  /**
   * Hands out a code for a login at the return address; a refusal goes there as `error`.
   *
   * @throws AppError `not-found`, `invalid-return-to`, `unavailable`
   */
  async complete(request: IncomingMessage, returnTo: unknown): Promise<string> {
    const url = this.returnAddress(returnTo);
    try {
      const person = this.identify(request);
      const created = await this.keyless.provision(person);
      url.searchParams.set('code', await this.issueCode(person, created));
    } catch (error) {
      if (!(error instanceof AppError) || ![401, 403, 409].includes(ERRORS[error.code].status)) {
        throw error;
      }
      this.audit.refuse(PROVIDER, error.code);
      url.searchParams.set('error', error.code.replaceAll('-', '_'));
    }
    return url.href;
  }

  /** @throws AppError `not-found`, `invalid-code`, and what {@link KeylessLogin.logIn} throws */
  async claim(code: string, origin: LoginOrigin): Promise<Login> {
    this.requireEnabled();
    const now = new Date(this.clock.now());
    const contents = await this.claims.take<ClaimContents>('mtls-claim', code, now);
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

  private async issueCode(person: KeylessPerson, created: boolean): Promise<string> {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    const contents = { subject: person.subject, login: person.login, created };
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
