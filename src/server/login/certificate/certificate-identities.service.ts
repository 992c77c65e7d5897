import type { IncomingMessage } from 'node:http';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditService } from '../../audit/audit.service.js';
import { RefusedPeopleService } from '../../audit/refused-people.service.js';
import { ClientAddressService } from '../../auth/client-address.service.js';
import { AppError } from '../../../common/errors.js';
import { authConfig } from '../../config/auth.config.js';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import { CertificateStatusService } from '../../providers/certificate/certificate-status.service.js';
import type { KeylessIdentity } from '../keyless/keyless-identity.js';
import { PresentedCertificateService } from './presented-certificate.service.js';

export interface NamedCertificate {
  readonly subject: string;
  readonly login: string;
  readonly record: CertificateRecord;
}

/** An identity that the rules allow, without a known refusal or revocation. */
export interface ProvenCertificate extends NamedCertificate {
  /** `unknown`: a source of revocations did not answer. */
  readonly eligibility: KeylessIdentity['eligibility'];
}

@Injectable()
export class CertificateIdentitiesService {
  private readonly logger = new Logger('ClientCertificates');

  constructor(
    private readonly certificates: PresentedCertificateService,
    private readonly status: CertificateStatusService,
    private readonly audit: AuditService,
    private readonly refusals: RefusedPeopleService,
    private readonly addresses: ClientAddressService,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
  ) {}

  async of(request: IncomingMessage): Promise<ProvenCertificate> {
    const presented = this.certificates.of(request);
    if (presented.kind === 'refused') {
      this.logRefusal(presented.reason);
    }
    if (presented.kind !== 'certificate') {
      throw new AppError('mtls-required');
    }
    const { record } = presented;
    const verdict = this.status.identify(record.facts);
    if (!verdict.isAllowed) {
      throw await this.refused(verdict.reason, record, this.addresses.of(request));
    }
    const named = { subject: verdict.subject, login: verdict.login, record };
    return this.verify(named, this.addresses.of(request));
  }

  async verify(named: NamedCertificate, address: string): Promise<ProvenCertificate> {
    const verdict = await this.status.judge(named.record, named.subject, false);
    switch (verdict.kind) {
      case 'eligible':
        return { ...named, eligibility: { status: 'eligible' } };
      case 'ineligible':
        throw await this.refused(verdict.reason.replaceAll('_', '-'), named.record, address);
      case 'unknown': {
        const { reason } = verdict;
        this.logger.warn({ msg: 'client certificate not checked for revocation', reason });
        const { enabled, strict } = this.auth.offboarding;
        const lastAnswerStands = !enabled || !strict;
        return { ...named, eligibility: { status: 'unknown', reason, lastAnswerStands } };
      }
    }
  }

  /** A certificate of a trusted authority names a person; an untrusted one is only counted. */
  private async refused(
    reason: string,
    { facts }: CertificateRecord,
    address: string,
  ): Promise<AppError> {
    const [email = null] = facts.emails;
    const login = facts.upns[0] ?? facts.commonNames[0] ?? null;
    const subject =
      facts.fingerprint === null ? (email ?? login) : `fingerprint:${facts.fingerprint}`;
    if (subject === null) {
      this.audit.refuse(CERTIFICATES, reason);
    } else {
      const person = { subject, facts: { login, email, emailVerified: true } };
      const refusal = { provider: CERTIFICATES, ...person, address, reason };
      await this.refusals.add(refusal, 'login-refused');
    }
    this.logger.warn({ msg: 'client certificate refused', reason });
    return new AppError('not-eligible', { provider: CERTIFICATES });
  }

  /** The client receives only the code; the reason is for the operator. */
  private logRefusal(reason: string): void {
    this.audit.refuse(CERTIFICATES, reason);
    this.logger.warn({ msg: 'client certificate refused', reason });
  }
}
