import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { LRUCache } from 'lru-cache';
import { CLIENT_AUTHENTICATION } from '../../policy/certificate/client-certificate.js';
import {
  allowsKeyUse,
  type CertificateProfile,
  type ParsedCertificate,
} from './parse-certificate.js';
import { searchLists, type ListedCertificate, type RevocationList } from './revocation-list.js';

/** The authorities of this server. */
export interface TrustStore {
  /** Every certificate of the bundle is an anchor: an intermediate alone can be trusted. */
  readonly anchors: readonly ParsedCertificate[];
  /** null = revocation is not checked. */
  readonly revocations: readonly RevocationList[] | null;
}

export const MAX_CHAIN = 10;

/** Why a chain is refused; `issuer-…` is about a certificate above the client's own. */
export type ChainFlaw = 'not-trusted' | PathFlaw | `issuer-${PathFlaw}`;

type PathFlaw =
  CertificateFlaw | 'expired' | 'not-yet-valid' | 'revoked' | 'path-too-long' | 'bad-signature';

/** From the client's own certificate to the anchor. */
export type CertificatePath = readonly [ParsedCertificate, ...ParsedCertificate[]];

/**
 * Validates a chain (RFC 5280, 6.1) as `openssl verify -purpose sslclient -x509_strict
 * -partial_chain` does, never accepting what that refuses. Stricter in this: authorities with name
 * constraints are refused, and so are signatures and keys of less than 112 bits of security.
 *
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
  return pathFlaw(path, store, now) ?? path;
}

/** The checks of a validated path that depend on time: validity and revocation. */
function pathFlaw(path: CertificatePath, store: TrustStore, now: number): ChainFlaw | null {
  for (const [index, certificate] of path.entries()) {
    const isAnchor = index > 0 && index === path.length - 1;
    // Without a current list of the issuer: no.
    const isKept =
      isAnchor ||
      store.revocations === null ||
      searchLists(listed(certificate), store.revocations, now) === 'good';
    const flaw = timeFlaw(certificate, now) ?? (isKept ? null : 'revoked');
    if (flaw !== null) {
      return index === 0 ? flaw : `issuer-${flaw}`;
    }
  }
  return null;
}

/** What revocation lists are searched for. */
export function listed(certificate: ParsedCertificate): ListedCertificate {
  const { issuerDer, serialNumber, profile, sources } = certificate;
  const isAuthority = profile.constraints?.isAuthority === true;
  return { issuerDer, serialNumber, crlUrls: sources.crlUrls, isAuthority };
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

/** By names and key identifiers. Whether it may issue is judged in the path. */
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
  const position = { depth: index, isAnchor: issuer === undefined, isAlone: path.length === 1 };
  const flaw = certificateFlaw(certificate, position);
  if (flaw !== null) {
    return flaw;
  }
  const { pathLength } = certificate.profile.constraints ?? { pathLength: null };
  const below = path.slice(1, index).filter((one) => !isSelfIssued(one)).length;
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

const isSelfIssued = ({ issuerDer, subjectDer }: ParsedCertificate): boolean =>
  issuerDer.equals(subjectDer);

const isSelfSigned = (certificate: ParsedCertificate): boolean =>
  isLikelyIssuer(certificate, certificate);

/** Caches the paths of valid chains, because verifying signatures takes longest. */
export class VerifiedChains {
  private readonly known: LRUCache<string, { store: TrustStore; path: CertificatePath }>;

  /** @param max cached chains */
  constructor(max: number) {
    this.known = new LRUCache({ max });
  }

  /**
   * Validates a chain against the current authorities.
   *
   * @param chain the client's own certificate first
   * @param now Unix milliseconds
   * @returns the path to an authority, or why there is none
   */
  pathOf(
    chain: readonly ParsedCertificate[],
    store: TrustStore | null,
    now: number,
  ): CertificatePath | ChainFlaw {
    if (store === null) {
      return 'not-trusted';
    }
    const key = chain.map(({ facts }) => facts.fingerprint).join();
    const known = this.known.get(key);
    if (known?.store === store) {
      return pathFlaw(known.path, store, now) ?? known.path;
    }
    const path = validateChain(chain, store, now);
    if (typeof path !== 'string') {
      this.known.set(key, { store, path });
    }
    return path;
  }
}

/** Why one certificate of a path is refused, at any time. */
type CertificateFlaw =
  | 'weak-algorithm'
  | 'unknown-critical-extension'
  | 'unsupported-extension'
  | 'name-constraints'
  | 'not-an-authority'
  | 'wrong-key-usage'
  | 'wrong-usage'
  | 'not-conforming';

interface PathPosition {
  /** 0 is the client's own certificate. */
  readonly depth: number;
  readonly isAnchor: boolean;
  /** Whether the client's own certificate is the anchor, too. */
  readonly isAlone: boolean;
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

/** Why the client's own certificate is refused, also where a proxy verified its chain. */
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

/** Why a certificate is refused at its position in a path to an anchor. */
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
