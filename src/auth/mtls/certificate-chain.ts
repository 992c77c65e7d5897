import type { ParsedCertificate } from './parse-certificate.js';
import { isUnrevoked, type RevocationList } from './revocation-list.js';

/** Whom this server believes, besides nobody. */
export interface TrustStore {
  /** Every certificate of the bundle is an anchor: an intermediate alone can be trusted. */
  readonly anchors: readonly ParsedCertificate[];
  /** null = revocation is not checked. */
  readonly revocations: readonly RevocationList[] | null;
}

export const MAX_CHAIN = 10;

/** md2, md4, md5 and SHA-1 with RSA, DSA or ECDSA: anybody with some money can forge them. */
const BROKEN_SIGNATURES: readonly string[] = [
  '1.2.840.113549.1.1.2',
  '1.2.840.113549.1.1.3',
  '1.2.840.113549.1.1.4',
  '1.2.840.113549.1.1.5',
  '1.2.840.10040.4.3',
  '1.2.840.10045.4.1',
];

/**
 * Whether a path leads from the certificate to an anchor: names and key ids, signatures,
 * authorities that are ones, dates, path lengths and revocation (RFC 5280, 6). Authorities with
 * name constraints are not walked through, as nothing here would hold them to those.
 */
export function isChained(
  [leaf, ...intermediates]: readonly ParsedCertificate[],
  store: TrustStore,
  now: number,
): boolean {
  if (leaf === undefined || intermediates.length >= MAX_CHAIN) {
    return false;
  }
  return leadsToAnchor(leaf, 0, intermediates, store, now);
}

function leadsToAnchor(
  certificate: ParsedCertificate,
  below: number,
  intermediates: readonly ParsedCertificate[],
  store: TrustStore,
  now: number,
): boolean {
  const isSound =
    isInForce(certificate, now) &&
    !BROKEN_SIGNATURES.includes(certificate.signatureAlgorithm) &&
    (store.revocations === null || isUnrevoked(certificate, store.revocations, now));
  if (!isSound) {
    return false;
  }
  const canIssue = (issuer: ParsedCertificate): boolean =>
    isIssuer(issuer, certificate, below, now);
  if (store.anchors.some(canIssue)) {
    return true;
  }
  return intermediates.filter(canIssue).some((issuer) =>
    leadsToAnchor(
      issuer,
      below + 1,
      intermediates.filter((one) => one !== issuer),
      store,
      now,
    ),
  );
}

function isIssuer(
  issuer: ParsedCertificate,
  certificate: ParsedCertificate,
  below: number,
  now: number,
): boolean {
  return (
    issuer.x509.ca &&
    !issuer.hasNameConstraints &&
    (issuer.pathLength === null || issuer.pathLength >= below) &&
    isInForce(issuer, now) &&
    certificate.x509.checkIssued(issuer.x509) &&
    certificate.x509.verify(issuer.x509.publicKey)
  );
}

function isInForce({ facts: { validity } }: ParsedCertificate, now: number): boolean {
  return validity !== null && validity.notBefore <= now && now <= validity.notAfter;
}
