import {
  judgeClientCertificate,
  type CertificateFacts,
  type CertificateIdentitySource,
  type CertificateRules,
} from './client-certificate.js';

/** The place where the revocation of one certificate can be looked up. */
export interface RevocationReference {
  /** Lower-case hex, without leading zero bytes. */
  readonly serialNumber: string;
  /** DER of the issuer's name, base64. */
  readonly issuerName: string;
  /** Key identifier of the issuer (RFC 5280, 4.2.1.1), hex; null = the certificate has none. */
  readonly authorityKeyId: string | null;
  /** The issuer's SubjectPublicKeyInfo, base64 DER; null = the issuer's certificate was not seen. */
  readonly issuerKey: string | null;
  /** False if the issuer's key usage excludes `cRLSign`. Records of earlier versions lack it. */
  readonly issuerSignsLists?: boolean;
  /** Its distribution points and OCSP responders, http and https. */
  readonly crlUrls: readonly string[];
  readonly ocspUrls: readonly string[];
}

/** The lookup works after the connection with the certificate has ended. */
export interface CertificateReference extends RevocationReference {
  /** Its own key identifier (RFC 5280, 4.2.1.2), hex; null = the certificate has none. */
  readonly subjectKeyId: string | null;
  /** SHA-256 of the public key of the trust anchor, hex; null = a proxy validated the chain. */
  readonly anchorKey: string | null;
  /** The authorities below the anchor, the issuer first. Records of earlier versions lack them. */
  readonly issuers?: readonly RevocationReference[];
}

export interface CertificateRecord {
  readonly facts: CertificateFacts;
  /** null = the proxy forwards only fields of the certificate. */
  readonly reference: CertificateReference | null;
}

type RecordVerdict =
  | { readonly kind: 'eligible' }
  | { readonly kind: 'ineligible'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: 'certificate_not_seen' };

/**
 * Judges the last certificate of an identity under the current rules, without revocation.
 * @param record null = the identity was linked before certificates were stored
 * @param subject `<source>:<value>`
 */
export function judgeRecord(
  record: CertificateRecord | null,
  subject: string,
  rules: CertificateRules,
  now: number,
): RecordVerdict {
  if (record === null) {
    return judgeSubject(subject, rules, now);
  }
  const verdict = judgeClientCertificate(record.facts, rules, now);
  if (!verdict.isAllowed) {
    return { kind: 'ineligible', reason: verdict.reason.replaceAll('-', '_') };
  }
  return verdict.subject === subject ? { kind: 'eligible' } : OTHER_IDENTITY;
}

/** The identity source or the allowed domains changed. */
const OTHER_IDENTITY = { kind: 'ineligible', reason: 'names_another_identity' } as const;

/** The subject alone can be refused by source or domain, but not accepted. */
function judgeSubject(subject: string, rules: CertificateRules, now: number): RecordVerdict {
  const facts = factsOf(subject, rules.identitySource);
  const verdict = facts && judgeClientCertificate(facts, { ...rules, allowedIssuers: [] }, now);
  if (verdict === null) {
    return OTHER_IDENTITY;
  }
  return verdict.isAllowed
    ? { kind: 'unknown', reason: 'certificate_not_seen' }
    : { kind: 'ineligible', reason: verdict.reason.replaceAll('-', '_') };
}

function factsOf(subject: string, source: CertificateIdentitySource): CertificateFacts | null {
  if (!subject.startsWith(`${source}:`)) {
    return null;
  }
  const value = subject.slice(source.length + 1);
  const of = (wanted: CertificateIdentitySource): string[] => (wanted === source ? [value] : []);
  return {
    emails: of('san_email'),
    upns: of('san_upn'),
    commonNames: of('subject_cn'),
    fingerprint: of('fingerprint')[0] ?? null,
    issuer: null,
    validity: null,
    usages: null,
  };
}

/** Unix milliseconds; null = unknown. */
export function endOf(record: CertificateRecord | null): number | null {
  return record?.facts.validity?.notAfter ?? null;
}
