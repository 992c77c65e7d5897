import type { ParsedCertificate } from './parse-certificate.js';
import { certificateFlaw, type CertificateFlaw } from './certificate-flaws.js';
import { isUnrevoked, type RevocationList } from './revocation-list.js';

/** The authorities of this server. */
export interface TrustStore {
  /** Every certificate of the bundle is an anchor: an intermediate alone can be trusted. */
  readonly anchors: readonly ParsedCertificate[];
  /** null = revocation is not checked. */
  readonly revocations: readonly RevocationList[] | null;
}

export const MAX_CHAIN = 10;

/** Why a chain does not count; `issuer-…` is about a certificate above the client's own. */
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

/** What can change of a validated path while its bytes stay: the time, and what is revoked. */
export function pathFlaw(path: CertificatePath, store: TrustStore, now: number): ChainFlaw | null {
  for (const [index, certificate] of path.entries()) {
    const isAnchor = index > 0 && index === path.length - 1;
    const isKept =
      isAnchor || store.revocations === null || isUnrevoked(certificate, store.revocations, now);
    const flaw = timeFlaw(certificate, now) ?? (isKept ? null : 'revoked');
    if (flaw !== null) {
      return index === 0 ? flaw : `issuer-${flaw}`;
    }
  }
  return null;
}

/**
 * One path, without a second attempt when it turns out bad: at each step an anchor that fits, else
 * a certificate that was sent along.
 */
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
    // What names itself as its issuer is trusted when it is the anchor, not when it resembles one.
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

/** The first issuer that is in force, else the one that was so last. */
function issuerAmong(
  candidates: readonly ParsedCertificate[],
  certificate: ParsedCertificate,
  now: number,
): ParsedCertificate | null {
  const issuers = candidates.filter((one) => isLikelyIssuer(one, certificate));
  const [latest] = issuers.toSorted((a, b) => endOf(b) - endOf(a));
  return issuers.find((one) => timeFlaw(one, now) === null) ?? latest ?? null;
}

/** By names and key identifiers. Whether it may issue is judged when it stands in the path. */
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
