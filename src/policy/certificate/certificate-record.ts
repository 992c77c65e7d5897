import {
  judgeClientCertificate,
  type CertificateFacts,
  type CertificateIdentitySource,
  type CertificateRules,
} from './client-certificate.js';

/** Where a certificate can be looked up after the connection that showed it has ended. */
export interface CertificateReference {
  /** Lower-case hex, without leading zero bytes. */
  readonly serialNumber: string;
  /** DER of the issuer's name, base64. */
  readonly issuerName: string;
  /** Key identifiers (RFC 5280, 4.2.1.1 and 4.2.1.2), hex; null = the certificate has none. */
  readonly authorityKeyId: string | null;
  readonly subjectKeyId: string | null;
  /** The issuer's SubjectPublicKeyInfo, base64 DER; null = the issuer's certificate was not seen. */
  readonly issuerKey: string | null;
  /** SHA-256 of the public key of the trust anchor, hex; null = a proxy validated the chain. */
  readonly anchorKey: string | null;
  /** Its distribution points and OCSP responders, http and https. */
  readonly crlUrls: readonly string[];
  readonly ocspUrls: readonly string[];
}

/** What an identity keeps of the certificate that was shown last, as JSON. */
export interface CertificateRecord {
  readonly facts: CertificateFacts;
  /** null = the proxy forwards fields of the certificate, and not the certificate. */
  readonly reference: CertificateReference | null;
}

export type RecordVerdict =
  | { readonly kind: 'eligible' }
  | { readonly kind: 'ineligible'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: 'certificate_not_seen' };

/**
 * Whether the certificate that an identity was last proven with still names it under the rules as they
 * are now. Revocation is another question.
 *
 * @param record null = the identity was linked before certificates were stored
 * @param subject of the identity, `<source>:<value>`
 * @param now Unix milliseconds
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

/** The identity source or the allowed domains changed: another identity is named now. */
const OTHER_IDENTITY = { kind: 'ineligible', reason: 'names_another_identity' } as const;

/** What can be said of a subject alone: a no by its source or domain, and never a yes. */
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

/** When the certificate ends, Unix milliseconds; null = not known. */
export function endOf(record: CertificateRecord | null): number | null {
  return record?.facts.validity?.notAfter ?? null;
}
