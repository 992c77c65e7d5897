import { AsnConvert } from '@peculiar/asn1-schema';
import { CertificateList } from '@peculiar/asn1-x509';
import { serialOf } from './certificate-profile.js';
import type { ParsedCertificate } from './parse-certificate.js';

/** What an authority has revoked. The file is the operator's, so its signature is not asked for. */
export interface RevocationList {
  readonly issuerDer: Buffer;
  /** Unix milliseconds; null = it does not say when the next one comes. */
  readonly nextUpdate: number | null;
  readonly serialNumbers: ReadonlySet<string>;
}

/** @throws Error when the PEM text is no revocation list */
export function parseRevocationList(pem: string): RevocationList {
  const der = Buffer.from(pem.replace(/-----[^-]+-----/g, ''), 'base64');
  const { tbsCertList } = AsnConvert.parse(der, CertificateList);
  return {
    issuerDer: Buffer.from(AsnConvert.serialize(tbsCertList.issuer)),
    nextUpdate: tbsCertList.nextUpdate?.getTime().getTime() ?? null,
    serialNumbers: new Set(
      (tbsCertList.revokedCertificates ?? []).map(({ userCertificate }) =>
        serialOf(userCertificate),
      ),
    ),
  };
}

/** Whether a list that is in force knows the certificate and has not revoked it. Unknown is no. */
export function isUnrevoked(
  certificate: ParsedCertificate,
  lists: readonly RevocationList[],
  now: number,
): boolean {
  const responsible = lists.filter(
    ({ issuerDer, nextUpdate }) =>
      issuerDer.equals(certificate.issuerDer) && (nextUpdate === null || now <= nextUpdate),
  );
  return (
    responsible.length > 0 &&
    responsible.every(({ serialNumbers }) => !serialNumbers.has(certificate.serialNumber))
  );
}
