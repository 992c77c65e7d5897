import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { Clock } from '../../common/clock.js';
import { mtlsConfig } from '../../config/mtls.config.js';
import { OperatorRules } from '../../config/rules/operator-rules.js';
import {
  judgeRecord,
  type CertificateRecord,
  type CertificateReference,
} from '../../policy/certificate/certificate-record.js';
import type { RecheckVerdict } from '../../policy/eligibility/offboarding.js';
import { isLoopbackHost } from '../../policy/flow/return-address.js';
import { CertificateFiles, type LoadedFiles } from './certificate-files.js';
import { issuerKeysOf, keyName, type IssuerKey } from './certificate-reference.js';
import { FetchedLists } from './fetched-lists.js';
import { OcspResponders } from './ocsp-responders.js';
import {
  isListSignedBy,
  searchLists,
  type ListAnswer,
  type ListedCertificate,
  type RevocationList,
} from './revocation-list.js';

const ELIGIBLE = { kind: 'eligible' } as const;
const REVOKED = { kind: 'ineligible', reason: 'revoked' } as const;

/** What lists say, as a verdict. */
const LIST_VERDICTS: Readonly<Record<ListAnswer, RecheckVerdict>> = {
  good: ELIGIBLE,
  revoked: REVOKED,
  expired: { kind: 'unknown', reason: 'crl_outdated' },
  missing: { kind: 'unknown', reason: 'crl_missing' },
};

/**
 * Judges a certificate that is known already: by the operator's rules and authorities as they are now,
 * and by every source of revocations that is configured. One no is a no; without a no, each source has
 * to answer.
 */
@Injectable()
export class CertificateStatus {
  constructor(
    private readonly files: CertificateFiles,
    private readonly lists: FetchedLists,
    private readonly responders: OcspResponders,
    private readonly clock: Clock,
    private readonly operator: OperatorRules,
    @Inject(mtlsConfig.KEY) private readonly mtls: ConfigType<typeof mtlsConfig>,
  ) {}

  /**
   * @param record null = linked before certificates were stored
   * @param subject of the identity
   * @param isFresh whether responders are asked although they answered a moment ago
   */
  async judge(
    record: CertificateRecord | null,
    subject: string,
    isFresh: boolean,
  ): Promise<RecheckVerdict> {
    const { mtls } = this.operator.current();
    const verdict = judgeRecord(record, subject, mtls, this.clock.now());
    const reference = record?.reference ?? null;
    if (verdict.kind !== 'eligible' || reference === null) {
      return verdict;
    }
    const loaded = this.files.current();
    return isAnchored(reference, loaded)
      ? this.revocation(reference, loaded, isFresh)
      : { kind: 'ineligible', reason: 'not_trusted' };
  }

  private async revocation(
    reference: CertificateReference,
    { trust, revocations }: LoadedFiles,
    isFresh: boolean,
  ): Promise<RecheckVerdict> {
    const issuers = issuerKeysOf(reference, trust?.anchors ?? []);
    const asked = await Promise.all([
      this.searchFetched(reference, issuers),
      this.askResponders(reference, issuers[0], isFresh),
    ]);
    const verdicts = [
      revocations === null ? ELIGIBLE : this.search(reference, revocations),
      ...asked,
    ];
    return (
      verdicts.find(({ kind }) => kind === 'ineligible') ??
      verdicts.find(({ kind }) => kind === 'unknown') ??
      ELIGIBLE
    );
  }

  private search(
    reference: CertificateReference,
    lists: readonly RevocationList[],
  ): RecheckVerdict {
    return LIST_VERDICTS[searchLists(listedBy(reference), lists, this.clock.now())];
  }

  private async searchFetched(
    reference: CertificateReference,
    issuers: readonly IssuerKey[],
  ): Promise<RecheckVerdict> {
    const own = reference.crlUrls.filter((address) => this.mayAsk(address));
    const addresses = [...new Set([...this.mtls.crlUrls, ...own])];
    if (addresses.length === 0) {
      return ELIGIBLE;
    }
    const found = await Promise.all(
      addresses.map(async (address) => ({ address, list: await this.lists.listAt(address) })),
    );
    const trusted = found.flatMap(({ address, list }) =>
      list !== null && isBelieved(list, address, issuers) ? [list] : [],
    );
    return this.search(reference, trusted);
  }

  private async askResponders(
    reference: CertificateReference,
    issuer: IssuerKey | undefined,
    isFresh: boolean,
  ): Promise<RecheckVerdict> {
    if (!this.mtls.ocspEnabled) {
      return ELIGIBLE;
    }
    if (issuer === undefined) {
      return { kind: 'unknown', reason: 'ocsp_issuer_unknown' };
    }
    const addresses = reference.ocspUrls.filter((address) => this.mayAsk(address));
    const result = await this.responders.ask(reference, issuer, addresses, isFresh);
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

  private mayAsk(address: string): boolean {
    return this.mtls.revocationHosts.includes(new URL(address).host);
  }
}

function listedBy({ issuerName, serialNumber, crlUrls }: CertificateReference): ListedCertificate {
  return {
    issuerDer: Buffer.from(issuerName, 'base64'),
    serialNumber,
    crlUrls,
    isAuthority: false,
  };
}

/** Whether the authority that its chain led to is one of this server's, where it has any. */
function isAnchored({ anchorKey }: CertificateReference, { trust }: LoadedFiles): boolean {
  return (
    anchorKey === null || trust === null || trust.anchors.some((one) => keyName(one) === anchorKey)
  );
}

/** By the signature; where no key of the issuer is known, by the connection that it came over. */
function isBelieved(list: RevocationList, address: string, issuers: readonly IssuerKey[]): boolean {
  const { protocol, hostname } = new URL(address);
  return issuers.length === 0
    ? protocol === 'https:' || isLoopbackHost(hostname)
    : issuers.some(({ key, name }) => isListSignedBy(list, key, name));
}
