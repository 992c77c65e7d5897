import { X509Certificate } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  Certificate,
  DirectoryString,
  ExtendedKeyUsage,
  id_ce_extKeyUsage,
  id_ce_subjectAltName,
  SubjectAlternativeName,
  type GeneralName,
  type Name,
  type TBSCertificate,
} from '@peculiar/asn1-x509';
import type { CertificateFacts } from '../../policy/client-certificate.js';
import { commonNamesOf, type DistinguishedName } from '../../policy/client-certificate-name.js';
import {
  readExtension,
  readProfile,
  serialOf,
  type CertificateProfile,
} from './certificate-profile.js';

/** A certificate that both OpenSSL and the ASN.1 grammar could read. */
export interface ParsedCertificate {
  readonly x509: X509Certificate;
  readonly facts: CertificateFacts;
  /** Lower-case hex. */
  readonly serialNumber: string;
  /** DER of the issuer's and of its own name. */
  readonly issuerDer: Buffer;
  readonly subjectDer: Buffer;
  readonly profile: CertificateProfile;
}

const UPN = '1.3.6.1.4.1.311.20.2.3';

/**
 * Reads one DER certificate by its grammar. Never by splitting printed names: a crafted alternative
 * name makes the printed form say what it likes.
 *
 * @returns null when it is not exactly one well-formed certificate
 */
export function parseCertificate(der: Buffer): ParsedCertificate | null {
  try {
    const x509 = new X509Certificate(der);
    return x509.raw.length === der.length ? fromDer(x509) : null;
  } catch {
    return null;
  }
}

function fromDer(x509: X509Certificate): ParsedCertificate | null {
  const certificate = AsnConvert.parse(x509.raw, Certificate);
  const { tbsCertificate: tbs } = certificate;
  const extensions = new Map(
    (tbs.extensions ?? []).map(({ extnID, critical, extnValue }) => [
      extnID,
      { isCritical: critical, value: extnValue.buffer },
    ]),
  );
  // Two of one kind: which of them counts would be each reader's guess (RFC 5280, 4.2).
  if (extensions.size !== (tbs.extensions ?? []).length || !hasPlainDates(tbs, x509.raw)) {
    return null;
  }
  const names = [
    ...(readExtension(extensions, id_ce_subjectAltName, SubjectAlternativeName) ?? []),
  ];
  const usages = readExtension(extensions, id_ce_extKeyUsage, ExtendedKeyUsage);
  return {
    x509,
    facts: {
      emails: names.flatMap(({ rfc822Name }) => (rfc822Name === undefined ? [] : [rfc822Name])),
      upns: names.flatMap(upnOf),
      commonNames: commonNamesOf(toDistinguishedName(tbs.subject)),
      fingerprint: x509.fingerprint256.replaceAll(':', '').toLowerCase(),
      issuer: toDistinguishedName(tbs.issuer),
      validity: {
        notBefore: tbs.validity.notBefore.getTime().getTime(),
        notAfter: tbs.validity.notAfter.getTime().getTime(),
      },
      usages: usages === null ? null : [...usages],
    },
    serialNumber: serialOf(tbs.serialNumber),
    issuerDer: Buffer.from(AsnConvert.serialize(tbs.issuer)),
    subjectDer: Buffer.from(AsnConvert.serialize(tbs.subject)),
    profile: readProfile(certificate, extensions),
  };
}

/** With seconds, in UTC, without fractions: other forms are read in different ways (4.1.2.5). */
function hasPlainDates({ validity }: TBSCertificate, raw: Buffer): boolean {
  return raw.includes(Buffer.from(AsnConvert.serialize(validity)));
}

function upnOf({ otherName }: GeneralName): string[] {
  return otherName?.typeId === UPN
    ? [AsnConvert.parse(otherName.value, DirectoryString).toString()]
    : [];
}

function toDistinguishedName(name: Name): DistinguishedName {
  return name.map((set) =>
    set.map(({ type, value }) => ({
      type,
      // Not a string type that names may have: nothing to compare with.
      value: value.anyValue === undefined ? value.toString() : '',
    })),
  );
}
