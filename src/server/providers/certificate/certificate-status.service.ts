import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { OperatorRulesService } from '../../config/operator-rules.service.js';
import {
  judgeRecord,
  type CertificateRecord,
  type CertificateReference,
} from '../../../core/policy/certificate/certificate-record.js';
import {
  judgeClientCertificate,
  type CertificateFacts,
  type CertificateVerdict,
} from '../../../core/policy/certificate/client-certificate.js';
import type { ProviderVerdict } from '../../../core/policy/eligibility/offboarding.js';
import { hasWholePath, keyName } from '../../../core/x509/certificate-reference.js';
import type { LoadedFiles } from './certificate-files.js';
import { CertificateFilesService } from './certificate-files.service.js';
import { RevocationListService } from './revocation-list.service.js';
import { RevocationService, worstOf } from './revocation.service.js';

/** Stored by an earlier version, which kept the certificate without the authorities above it. */
const ISSUERS_NOT_SEEN = { kind: 'unknown', reason: 'issuers_not_seen' } as const;
const NOT_TRUSTED = { kind: 'ineligible', reason: 'not_trusted' } as const;

@Injectable()
export class CertificateStatusService implements OnModuleInit {
  /** The number of changes of files, fetched lists and rules since the start. */
  changes = 0;

  constructor(
    private readonly files: CertificateFilesService,
    private readonly lists: RevocationListService,
    private readonly sources: RevocationService,
    private readonly clock: Clock,
    private readonly operator: OperatorRulesService,
  ) {}

  onModuleInit(): void {
    for (const source of [this.files, this.lists, this.operator]) {
      source.onChange(() => (this.changes += 1));
    }
  }

  /** Maps the facts of a presented certificate to an identity, without its revocation. */
  identify(facts: CertificateFacts): CertificateVerdict {
    return judgeClientCertificate(facts, this.operator.current().mtls, this.clock.now());
  }

  /**
   * @param isFresh true to ask responders again that answered a moment ago
   * @returns the verdict with the time before the sources were asked: a newer refusal takes precedence. `changes` is
   * the number before.
   */
  async judge(
    record: CertificateRecord | null,
    subject: string,
    isFresh: boolean,
  ): Promise<ProviderVerdict & { readonly askedAt: number; readonly changes: number }> {
    const { changes } = this;
    const askedAt = this.clock.now();
    const { mtls } = this.operator.current();
    const verdict = judgeRecord(record, subject, mtls, askedAt);
    const reference = record?.reference ?? null;
    if (verdict.kind !== 'eligible' || reference === null) {
      return { ...verdict, askedAt, changes };
    }
    const revocation = isAnchored(reference, this.files.current())
      ? await this.revocation(reference, isFresh)
      : NOT_TRUSTED;
    return { ...revocation, askedAt, changes };
  }

  private async revocation(
    reference: CertificateReference,
    isFresh: boolean,
  ): Promise<ProviderVerdict> {
    const issuers = (reference.issuers ?? []).map(async (authority) =>
      ofIssuer(await this.sources.judge(authority, { isAuthority: true, isFresh })),
    );
    const own = this.sources.judge(reference, { isAuthority: false, isFresh });
    const isUnseen = !hasWholePath(reference) && this.sources.areConfigured();
    return worstOf([
      ...(await Promise.all([own, ...issuers])),
      ...(isUnseen ? [ISSUERS_NOT_SEEN] : []),
    ]);
  }
}

/** The reasons of authorities have a prefix, as those of chains do. */
function ofIssuer(verdict: ProviderVerdict): ProviderVerdict {
  return verdict.kind === 'eligible' ? verdict : { ...verdict, reason: `issuer_${verdict.reason}` };
}

/** Returns true if the authority that its chain led to is one of this server's, where it has any. */
function isAnchored({ anchorKey }: CertificateReference, { trust }: LoadedFiles): boolean {
  return (
    anchorKey === null || trust === null || trust.anchors.some((one) => keyName(one) === anchorKey)
  );
}
