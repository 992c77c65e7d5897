import type { IncomingMessage } from 'node:http';
import { Injectable, Logger } from '@nestjs/common';
import { RefusedPeopleService } from '../../audit/refused-people.service.js';
import { ClientAddressService } from '../../auth/client-address.service.js';
import { AppError } from '../../../common/errors.js';
import { LogOnce } from '../../../common/log-once.js';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import { CertificateStatusService } from '../../providers/certificate/certificate-status.service.js';
import { IdentityRepository } from '../../storage/repositories/identity.repository.js';
import type { KeylessIdentity } from '../keyless/keyless-identity.js';
import { LoginRechecksService } from '../login-rechecks.service.js';
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
  /** Unix milliseconds. */
  readonly checkedAt: number;
  /** See {@link CertificateIdentitiesService.confirm}. */
  readonly changes: number;
}

@Injectable()
export class CertificateIdentitiesService {
  private readonly logger = new Logger('ClientCertificates');
  /** An owner of a certificate could fill the log while a source of revocations is away. */
  private readonly unchecked = new LogOnce((reason) =>
    this.logger.warn({ msg: 'client certificate not checked for revocation', reason }),
  );

  constructor(
    private readonly certificates: PresentedCertificateService,
    private readonly status: CertificateStatusService,
    private readonly identities: IdentityRepository,
    private readonly refusals: RefusedPeopleService,
    private readonly addresses: ClientAddressService,
    private readonly rechecks: LoginRechecksService,
  ) {}

  async of(request: IncomingMessage): Promise<ProvenCertificate> {
    const presented = this.certificates.of(request);
    const address = this.addresses.of(request);
    if (presented.kind === 'refused') {
      await this.report(presented.reason, null, address);
    }
    if (presented.kind !== 'certificate') {
      throw new AppError('mtls-required');
    }
    const { record } = presented;
    const verdict = this.status.identify(record.facts);
    if (!verdict.isAllowed) {
      await this.report(verdict.reason, record, address);
      throw new AppError('not-eligible', { provider: CERTIFICATES });
    }
    const named = { subject: verdict.subject, login: verdict.login, record };
    return this.verify(named, address);
  }

  async verify(named: NamedCertificate, address: string): Promise<ProvenCertificate> {
    const verdict = await this.status.judge(named.record, named.subject, false);
    const { askedAt: checkedAt, changes } = verdict;
    switch (verdict.kind) {
      case 'eligible':
        this.unchecked.clear();
        return { ...named, checkedAt, changes, eligibility: { status: 'eligible' } };
      case 'ineligible':
        await this.report(verdict.reason.replaceAll('_', '-'), named.record, address);
        throw await this.refusalOf(named.subject, verdict.reason);
      case 'unknown': {
        const { reason } = verdict;
        this.unchecked.write(reason);
        const { lastAnswerStands } = this.rechecks;
        const eligibility = { status: 'unknown', reason, lastAnswerStands } as const;
        return { ...named, checkedAt, changes, eligibility };
      }
    }
  }

  /** Call it after the commit: a newer list may have been applied in between. */
  confirm({ subject, changes }: ProvenCertificate): Promise<void> {
    return this.rechecks.confirm(CERTIFICATES, subject, this.status.changes !== changes);
  }

  /** The owner of an account learns the reason, as at a provider. */
  private async refusalOf(subject: string, reason: string): Promise<AppError> {
    const known = await this.identities.find(CERTIFICATES, subject);
    const owner = known === null ? {} : { accountId: known.accountId, reason };
    return new AppError('not-eligible', { provider: CERTIFICATES, ...owner });
  }

  /** @param record of a certificate of a trusted authority, which names a person; else null */
  private async report(
    reason: string,
    record: CertificateRecord | null,
    address: string,
  ): Promise<void> {
    const { emails = [], upns = [], commonNames = [], fingerprint = null } = record?.facts ?? {};
    const [email = null] = emails;
    const login = upns[0] ?? commonNames[0] ?? null;
    const subject = fingerprint === null ? (email ?? login) : `fingerprint:${fingerprint}`;
    const facts = { login, email, emailVerified: true };
    await this.refusals.add(
      { provider: CERTIFICATES, subject, facts, address, reason },
      'login-refused',
    );
  }
}
