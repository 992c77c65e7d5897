import { id_kp_clientAuth, KeyUsageFlags } from '@peculiar/asn1-x509';
import {
  allowsKeyUse,
  type CertificateProfile,
  type ParsedCertificate,
} from './parse-certificate.js';
import { isSelfIssued, outsideConstraints } from './name-constraints.js';
import { searchLists, type ListedCertificate, type RevocationList } from './revocation-list.js';
import { issuerKeyOf } from './verify-signature.js';

export interface TrustStore {
  /** Every certificate of the bundle is an anchor: an intermediate alone can be trusted. */
  readonly anchors: readonly ParsedCertificate[];
  /** null = revocation is not checked. */
  readonly revocations: readonly RevocationList[] | null;
}

export const MAX_CHAIN = 10;

/** The reason of a refusal; `issuer-…` is about a certificate above the client's own. */
export type ChainFlaw = 'not-trusted' | PathFlaw | `issuer-${PathFlaw}`;

type PathFlaw =
  | CertificateFlaw
  | 'expired'
  | 'not-yet-valid'
  | 'revoked'
  | 'path-too-long'
  | 'bad-signature'
  | 'name-constraints';

/** From the client's own certificate to the anchor. */
export type CertificatePath = readonly [ParsedCertificate, ...ParsedCertificate[]];

/**
 * Validates a chain (RFC 5280, 6.1) as `openssl verify -purpose sslclient -partial_chain` does, or
 * more strictly (docs/mtls.md).
 * @param chain the client's own certificate first, the others in any order
 * @returns the path, or why there is none
 */
export function validateChain(
  chain: readonly ParsedCertificate[],
  store: TrustStore,
  now: number,
): CertificatePath | ChainFlaw {
  const path = chain.length > MAX_CHAIN ? null : buildPath(chain, store.anchors, now);
  if (path === null) {
    return 'not-trusted';
  }
  for (const [index, certificate] of path.entries()) {
    const flaw = flawIn(certificate, index, path);
    if (flaw !== null) {
      return index === 0 ? flaw : `issuer-${flaw}`;
    }
  }
  const outside = outsideConstraints(path);
  if (outside !== null) {
    return outside === 0 ? 'name-constraints' : 'issuer-name-constraints';
  }
  return currentFlaw(path, store, now) ?? path;
}

/** The checks of a validated path that depend on time: validity and revocation. */
export function currentFlaw(
  path: CertificatePath,
  store: TrustStore,
  now: number,
): ChainFlaw | null {
  for (const [index, certificate] of path.entries()) {
    const isAnchor = index > 0 && index === path.length - 1;
    // A certificate without a current list of its issuer counts as revoked.
    const isKept =
      isAnchor ||
      store.revocations === null ||
      searchLists(listed(certificate, path[index + 1], store), store.revocations, now) === 'good';
    const flaw = timeFlaw(certificate, now) ?? (isKept ? null : 'revoked');
    if (flaw !== null) {
      return index === 0 ? flaw : `issuer-${flaw}`;
    }
  }
  return null;
}

function listed(
  { issuerDer, serialNumber, profile, sources }: ParsedCertificate,
  issuer: ParsedCertificate | undefined,
  { anchors }: TrustStore,
): ListedCertificate {
  const isAuthority = profile.constraints?.isAuthority === true;
  const named = anchors.filter(({ subjectDer }) => subjectDer.equals(issuerDer));
  const issuerKeys = [...(issuer === undefined ? [] : [issuer]), ...named].map(issuerKeyOf);
  return { issuerDer, serialNumber, issuerKeys, crlUrls: sources.crlUrls, isAuthority };
}

/** One path, without backtracking: at each step an anchor that fits, else a certificate sent along. */
function buildPath(
  [leaf, ...others]: readonly ParsedCertificate[],
  anchors: readonly ParsedCertificate[],
  now: number,
): CertificatePath | null {
  if (leaf === undefined) {
    return null;
  }
  const path: [ParsedCertificate, ...ParsedCertificate[]] = [leaf];
  let current = leaf;
  for (;;) {
    const anchor = issuerAmong(anchors, current, now);
    // A self-signed certificate is trusted when it is the anchor, not when it resembles one.
    if (anchor !== null && (!isSelfSigned(current) || isSame(anchor, current))) {
      return isSame(anchor, current) ? path : [...path, anchor];
    }
    const unused = others.filter((other) => !path.some((one) => isSame(one, other)));
    const issuer = isSelfSigned(current) ? null : issuerAmong(unused, current, now);
    if (issuer === null) {
      return anchors.some((one) => isSame(one, leaf)) ? [leaf] : null;
    }
    path.push(issuer);
    current = issuer;
  }
}

/** The first issuer that is valid now, else the one that was so last. */
function issuerAmong(
  candidates: readonly ParsedCertificate[],
  certificate: ParsedCertificate,
  now: number,
): ParsedCertificate | null {
  const issuers = candidates.filter((one) => isLikelyIssuer(one, certificate));
  const [latest] = issuers.toSorted((a, b) => endOf(b) - endOf(a));
  return issuers.find((one) => timeFlaw(one, now) === null) ?? latest ?? null;
}

/** Compares names and key identifiers; the checks of the path decide if it may issue. */
function isLikelyIssuer(issuer: ParsedCertificate, certificate: ParsedCertificate): boolean {
  const { keyId, serialNumber, issuerDer } = certificate.profile.authority;
  const { subjectKeyId } = issuer.profile;
  const isNamed =
    issuer.subjectDer.equals(certificate.issuerDer) &&
    (keyId === null || subjectKeyId === null || keyId === subjectKeyId) &&
    (serialNumber === null || serialNumber === issuer.serialNumber) &&
    (issuerDer === null || issuerDer.equals(issuer.issuerDer));
  // OpenSSL compares names without case and repeated spaces too (RFC 5280, 7.1).
  return isNamed || certificate.x509.checkIssued(issuer.x509);
}

function flawIn(
  certificate: ParsedCertificate,
  index: number,
  path: CertificatePath,
): PathFlaw | null {
  const issuer = path[index + 1];
  const flaw = certificateFlaw(certificate, { depth: index, isAnchor: issuer === undefined });
  if (flaw !== null) {
    return flaw;
  }
  const { pathLength } = certificate.profile.constraints ?? { pathLength: null };
  const below = path.slice(1, index).filter(({ names }) => !isSelfIssued(names)).length;
  if (index > 0 && pathLength !== null && below > pathLength) {
    return 'path-too-long';
  }
  const isSigned = issuer === undefined || certificate.x509.verify(issuer.x509.publicKey);
  return isSigned ? null : 'bad-signature';
}

function timeFlaw({ facts: { validity } }: ParsedCertificate, now: number): PathFlaw | null {
  if (validity === null || now < validity.notBefore) {
    return 'not-yet-valid';
  }
  return now > validity.notAfter ? 'expired' : null;
}

const endOf = ({ facts }: ParsedCertificate): number => facts.validity?.notAfter ?? 0;

const isSame = (a: ParsedCertificate, b: ParsedCertificate): boolean =>
  a.x509.raw.equals(b.x509.raw);

const isSelfSigned = (certificate: ParsedCertificate): boolean =>
  isLikelyIssuer(certificate, certificate);

/** The reasons that do not depend on time and hold for one certificate. */
type CertificateFlaw =
  | 'weak-algorithm'
  | 'unknown-critical-extension'
  | 'unsupported-extension'
  | 'not-an-authority'
  | 'wrong-key-usage'
  | 'wrong-usage'
  | 'not-conforming';

interface PathPosition {
  /** 0 is the client's own certificate. */
  readonly depth: number;
  readonly isAnchor: boolean;
}

/** Signatures with SHA-2 or SHA-3, and those with a hash of their own. */
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

function certificateFlaw(
  certificate: ParsedCertificate,
  position: PathPosition,
): CertificateFlaw | null {
  const { usages } = certificate.facts;
  const flaw = position.depth === 0 ? clientFlaw(certificate) : authorityFlaw(certificate);
  if (flaw !== null) {
    return flaw;
  }
  // An authority's usages restrict what is issued below it, as in every TLS library.
  if (usages !== null && !usages.includes(id_kp_clientAuth)) {
    return 'wrong-usage';
  }
  if (!hasStrongKey(certificate) || (!position.isAnchor && !hasStrongSignature(certificate))) {
    return 'weak-algorithm';
  }
  return isConforming(certificate) ? null : 'not-conforming';
}

function authorityFlaw({ profile }: ParsedCertificate): CertificateFlaw | null {
  if (profile.constraints?.isAuthority !== true) {
    return 'not-an-authority';
  }
  if (!allowsKeyUse(profile, KeyUsageFlags.keyCertSign)) {
    return 'wrong-key-usage';
  }
  return extensionFlaw(profile);
}

function extensionFlaw(profile: CertificateProfile): CertificateFlaw | null {
  if (profile.hasUnknownCritical) {
    return 'unknown-critical-extension';
  }
  return profile.hasUnsupported ? 'unsupported-extension' : null;
}

/** Libraries differ in how they read these: extensions of version 1, and a length below zero. */
function isConforming({ profile }: ParsedCertificate): boolean {
  return profile.isWellVersioned && (profile.constraints?.pathLength ?? 0) >= 0;
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
