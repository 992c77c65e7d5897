import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { mtlsConfig, type MtlsSettings } from '../../config/mtls.config.js';
import type { RevocationReference } from '../../../core/policy/certificate/certificate-record.js';
import type { ProviderVerdict } from '../../../core/policy/eligibility/offboarding.js';
import { issuerKeysOf } from '../../../core/x509/certificate-reference.js';
import {
  searchLists,
  type ListAnswer,
  type ListedCertificate,
} from '../../../core/x509/revocation-list.js';
import type { IssuerKey } from '../../../core/x509/verify-signature.js';
import { CertificateFilesService } from './certificate-files.service.js';
import { RevocationListService } from './revocation-list.service.js';
import { OcspService } from './ocsp.service.js';

const ELIGIBLE = { kind: 'eligible' } as const;
const REVOKED = { kind: 'ineligible', reason: 'revoked' } as const;

const LIST_VERDICTS: Readonly<Record<ListAnswer, ProviderVerdict>> = {
  good: ELIGIBLE,
  revoked: REVOKED,
  expired: { kind: 'unknown', reason: 'crl_outdated' },
  missing: { kind: 'unknown', reason: 'crl_missing' },
  unverifiable: { kind: 'unknown', reason: 'crl_issuer_unknown' },
};

interface JudgeOptions {
  readonly isAuthority: boolean;
  /** True if responders are asked although they answered a moment ago. */
  readonly isFresh: boolean;
}

/** One refusal is decisive; without one, each source has to answer. */
@Injectable()
export class RevocationService {
  constructor(
    private readonly files: CertificateFilesService,
    private readonly lists: RevocationListService,
    private readonly responders: OcspService,
    private readonly clock: Clock,
    @Inject(mtlsConfig.KEY) private readonly mtls: MtlsSettings,
  ) {}

  areConfigured(): boolean {
    const { crlPath, crlUrls, revocationHosts, ocspEnabled } = this.mtls;
    return crlPath !== null || ocspEnabled || crlUrls.length > 0 || revocationHosts.length > 0;
  }

  async judge(
    certificate: RevocationReference,
    { isAuthority, isFresh }: JudgeOptions,
  ): Promise<ProviderVerdict> {
    const { trust, revocations } = this.files.current();
    const issuerKeys = issuerKeysOf(certificate, trust?.anchors ?? []);
    const { issuerName, serialNumber, crlUrls } = certificate;
    const issuerDer = Buffer.from(issuerName, 'base64');
    const listed = { issuerDer, serialNumber, crlUrls, issuerKeys, isAuthority };
    const fetched = [this.mtls.crlUrls, this.allowed(crlUrls)]
      .filter((addresses) => addresses.length > 0)
      .map((addresses) => this.searchFetched(listed, addresses));
    const lists = [
      ...(revocations === null ? [] : [searchLists(listed, revocations, this.clock.now())]),
      ...(await Promise.all(fetched)),
    ];
    // Authorities often name no responder, and cannot be issued again for that: a list is enough then.
    const needsResponder = !isAuthority || certificate.ocspUrls.length > 0 || lists.length === 0;
    return worstOf([
      ...lists.map((answer) => LIST_VERDICTS[answer]),
      ...(this.mtls.ocspEnabled && needsResponder
        ? [await this.askResponders(certificate, issuerKeys[0], isFresh)]
        : []),
    ]);
  }

  private async searchFetched(
    listed: ListedCertificate,
    addresses: readonly string[],
  ): Promise<ListAnswer> {
    const authority = { issuerDer: listed.issuerDer, keys: listed.issuerKeys };
    const found = await Promise.all(
      addresses.map((address) => this.lists.listAt(address, authority)),
    );
    const lists = found.filter((list) => list !== null);
    return searchLists(listed, lists, this.clock.now());
  }

  private async askResponders(
    certificate: RevocationReference,
    issuer: IssuerKey | undefined,
    isFresh: boolean,
  ): Promise<ProviderVerdict> {
    if (issuer === undefined) {
      return { kind: 'unknown', reason: 'ocsp_issuer_unknown' };
    }
    const addresses = this.allowed(certificate.ocspUrls);
    const result = await this.responders.ask(certificate, issuer, addresses, isFresh);
    switch (result.status) {
      case 'good':
        return ELIGIBLE;
      case 'revoked':
        return REVOKED;
      case 'unknown': {
        const { status, ...unknown } = result;
        return { kind: status, ...unknown };
      }
    }
  }

  private allowed(addresses: readonly string[]): readonly string[] {
    return addresses.filter((address) => this.mtls.revocationHosts.includes(new URL(address).host));
  }
}

export function worstOf(verdicts: readonly ProviderVerdict[]): ProviderVerdict {
  return (
    verdicts.find(({ kind }) => kind === 'ineligible') ??
    verdicts.find(({ kind }) => kind === 'unknown') ??
    ELIGIBLE
  );
}
