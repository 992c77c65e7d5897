import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { AppError } from '../../common/errors.js';
import { authConfig } from '../../config/auth.config.js';
import { OperatorRules } from '../../config/rules/operator-rules.js';
import { CERTIFICATES } from '../../policy/admission/admission.js';
import type { CertificateRecord } from '../../policy/certificate/certificate-record.js';
import { judgeClientCertificate } from '../../policy/certificate/client-certificate.js';
import { CertificateStatus } from '../../providers/certificate/certificate-status.js';
import type { KeylessIdentity } from '../keyless/keyless-login.service.js';
import { PresentedCertificates } from './presented-certificate.js';

/** The identity that a certificate names. */
export interface NamedCertificate {
  readonly subject: string;
  readonly login: string;
  /** null = of a code that an earlier version issued. */
  readonly record: CertificateRecord | null;
}

/** One that the rules allow and that nothing is known against. */
export interface ProvenCertificate extends NamedCertificate {
  /** `unknown`: a source of revocations did not answer. */
  readonly eligibility: KeylessIdentity['eligibility'];
}

/** Who the certificate of a request is, by the operator's rules, and whether it is revoked. */
@Injectable()
export class CertificateIdentities {
  private readonly logger = new Logger('ClientCertificates');

  constructor(
    private readonly certificates: PresentedCertificates,
    private readonly status: CertificateStatus,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    private readonly operator: OperatorRules,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
  ) {}

  /** @throws AppError `mtls-required` without a trusted certificate, `not-eligible` */
  async of(request: IncomingMessage): Promise<ProvenCertificate> {
    const presented = this.certificates.of(request);
    if (presented.kind === 'refused') {
      this.logRefusal(presented.reason);
    }
    if (presented.kind !== 'certificate') {
      throw new AppError('mtls-required');
    }
    const { record } = presented;
    const { mtls } = this.operator.current();
    const verdict = judgeClientCertificate(record.facts, mtls, this.clock.now());
    if (!verdict.isAllowed) {
      throw this.refused(verdict.reason);
    }
    return this.prove({ subject: verdict.subject, login: verdict.login, record });
  }

  /**
   * Judges a certificate that was shown a moment ago.
   *
   * @throws AppError `not-eligible`
   */
  async prove(named: NamedCertificate): Promise<ProvenCertificate> {
    if (named.record === null) {
      return { ...named, eligibility: { status: 'eligible' } };
    }
    const verdict = await this.status.judge(named.record, named.subject, false);
    switch (verdict.kind) {
      case 'eligible':
        return { ...named, eligibility: { status: 'eligible' } };
      case 'ineligible':
        throw this.refused(verdict.reason.replaceAll('_', '-'));
      case 'unknown': {
        const { reason } = verdict;
        this.logger.warn({ msg: 'client certificate not checked for revocation', reason });
        const { enabled, strict } = this.auth.offboarding;
        const lastAnswerStands = !enabled || !strict;
        return { ...named, eligibility: { status: 'unknown', reason, lastAnswerStands } };
      }
    }
  }

  private refused(reason: string): AppError {
    this.logRefusal(reason);
    return new AppError('not-eligible', { provider: CERTIFICATES });
  }

  /** The client receives the code only; the reason is for the operator. */
  private logRefusal(reason: string): void {
    this.audit.refuse(CERTIFICATES, reason);
    this.logger.warn({ msg: 'client certificate refused', reason });
  }
}
