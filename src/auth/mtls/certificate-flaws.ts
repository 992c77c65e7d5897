import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { CLIENT_AUTHENTICATION } from '../../policy/client-certificate.js';
import { allowsKeyUse, type CertificateProfile } from './certificate-profile.js';
import type { ParsedCertificate } from './parse-certificate.js';

/** What makes one certificate of a path unfit, at any time. */
export type CertificateFlaw =
  | 'weak-algorithm'
  | 'unknown-critical-extension'
  | 'unsupported-extension'
  | 'name-constraints'
  | 'not-an-authority'
  | 'wrong-key-usage'
  | 'wrong-usage'
  | 'not-conforming';

export interface PathPosition {
  /** 0 is the client's own certificate. */
  readonly depth: number;
  readonly isAnchor: boolean;
  /** Whether the client's own certificate is the anchor, too. */
  readonly isAlone: boolean;
}

/** Signatures with SHA-2 or SHA-3, and those that choose their hash themselves. */
const STRONG_SIGNATURES: ReadonlySet<string> = new Set([
  // RSA with SHA-256, -384, -512, -224, -512/224, -512/256
  ...[11, 12, 13, 14, 15, 16].map((last) => `1.2.840.113549.1.1.${last}`),
  // RSASSA-PSS with SHA-256, -384, -512, -224, -512/224, -512/256
  ...[1, 2, 3, 4, 5, 6].map((last) => `2.16.840.1.101.3.4.2.${last}`),
  // ECDSA with SHA-224, -256, -384, -512
  ...[1, 2, 3, 4].map((last) => `1.2.840.10045.4.3.${last}`),
  // Ed25519, Ed448
  '1.3.101.112',
  '1.3.101.113',
]);
/** DSA, ECDSA and RSA with SHA-2 or SHA-3, ML-DSA and SLH-DSA. */
const NIST_SIGNATURES = '2.16.840.1.101.3.4.3.';

/** 112 bits of security (NIST SP 800-57 part 1, table 2). */
const MIN_RSA_BITS = 2048;
const MIN_CURVE_BITS = 224;

/** What makes the client's own certificate unfit, also where a proxy verified its chain. */
export function clientFlaw({ profile }: ParsedCertificate): CertificateFlaw | null {
  const flaw = extensionFlaw(profile);
  if (flaw !== null) {
    return flaw;
  }
  const signing = KeyUsageFlags.digitalSignature | KeyUsageFlags.keyAgreement;
  if (!allowsKeyUse(profile, signing)) {
    return 'wrong-key-usage';
  }
  return profile.isNetscapeClient ? null : 'wrong-usage';
}

/** What makes a certificate unfit for its place in a path to an anchor. */
export function certificateFlaw(
  certificate: ParsedCertificate,
  position: PathPosition,
): CertificateFlaw | null {
  const { usages } = certificate.facts;
  const flaw = position.depth === 0 ? clientFlaw(certificate) : authorityFlaw(certificate);
  if (flaw !== null) {
    return flaw;
  }
  // An authority's usages restrict what is issued below it, as in every TLS library.
  if (usages !== null && !usages.includes(CLIENT_AUTHENTICATION)) {
    return 'wrong-usage';
  }
  if (!hasStrongKey(certificate) || (!position.isAnchor && !hasStrongSignature(certificate))) {
    return 'weak-algorithm';
  }
  const isConforming =
    hasSoundKeyUsage(certificate) &&
    (position.isAlone || (hasSoundNames(certificate) && hasSoundIds(certificate, position)));
  return isConforming ? null : 'not-conforming';
}

function authorityFlaw({ profile }: ParsedCertificate): CertificateFlaw | null {
  if (profile.constraints?.isAuthority !== true) {
    return 'not-an-authority';
  }
  if (!allowsKeyUse(profile, KeyUsageFlags.keyCertSign)) {
    return 'wrong-key-usage';
  }
  return profile.hasNameConstraints ? 'name-constraints' : extensionFlaw(profile);
}

function extensionFlaw(profile: CertificateProfile): CertificateFlaw | null {
  if (profile.hasUnknownCritical) {
    return 'unknown-critical-extension';
  }
  return profile.hasUnsupported ? 'unsupported-extension' : null;
}

/** RFC 5280, 4.2.1.3 and 4.2.1.9. */
function hasSoundKeyUsage({ profile, x509 }: ParsedCertificate): boolean {
  const { constraints, keyUsage } = profile;
  if (constraints?.isAuthority === true) {
    const { pathLength } = constraints;
    return keyUsage !== null && constraints.isCritical && (pathLength === null || pathLength >= 0);
  }
  const claimsToSign = keyUsage !== null && (keyUsage & KeyUsageFlags.keyCertSign) !== 0;
  const isOldRoot = !profile.isVersion3 && x509.subject === x509.issuer;
  return !claimsToSign && !isOldRoot && (constraints?.pathLength ?? null) === null;
}

/** RFC 5280, 4.1.2.4, 4.1.2.6 and 4.2.1.6. */
function hasSoundNames({ profile, facts, x509, subjectDer }: ParsedCertificate): boolean {
  const hasIssuer = facts.issuer !== null && facts.issuer.length > 0;
  const hasSubject = subjectDer.length > EMPTY_SEQUENCE_LENGTH;
  const mayBeNameless =
    profile.isAltNameCritical === true &&
    profile.constraints?.isAuthority !== true &&
    (profile.keyUsage === null || (profile.keyUsage & KeyUsageFlags.cRLSign) === 0);
  const hasNames = profile.isAltNameCritical === null || (x509.subjectAltName ?? '') !== '';
  return hasIssuer && (hasSubject || mayBeNameless) && hasNames;
}

const EMPTY_SEQUENCE_LENGTH = 2;

/** RFC 5280, 4.1.2.1, 4.2.1.1 and 4.2.1.2. */
function hasSoundIds({ profile }: ParsedCertificate, { isAnchor }: PathPosition): boolean {
  const needsOwn = profile.constraints?.isAuthority === true;
  return (
    profile.isWellVersioned &&
    profile.authority.isPaired &&
    (!profile.isVersion3 || isAnchor || profile.authority.keyId !== null) &&
    (!needsOwn || profile.subjectKeyId !== null)
  );
}

function hasStrongSignature({ profile }: ParsedCertificate): boolean {
  const { signatureAlgorithm } = profile;
  return (
    STRONG_SIGNATURES.has(signatureAlgorithm) || signatureAlgorithm.startsWith(NIST_SIGNATURES)
  );
}

function hasStrongKey({ profile, x509 }: ParsedCertificate): boolean {
  const { asymmetricKeyDetails: { modulusLength, namedCurve } = {} } = x509.publicKey;
  if (modulusLength !== undefined) {
    return modulusLength >= MIN_RSA_BITS;
  }
  if (namedCurve !== undefined) {
    return profile.hasNamedCurve && Number(/\d{3}/.exec(namedCurve)?.[0]) >= MIN_CURVE_BITS;
  }
  return profile.hasNamedCurve;
}
