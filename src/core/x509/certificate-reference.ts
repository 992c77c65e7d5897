import { createHash, createPublicKey } from 'node:crypto';
import type {
  CertificateRecord,
  CertificateReference,
  RevocationReference,
} from '../policy/certificate/certificate-record.js';
import type { CertificatePath } from './certificate-chain.js';
import type { ParsedCertificate } from './parse-certificate.js';
import { issuerKeyOf, type IssuerKey } from './verify-signature.js';

export function recordOfPath(path: CertificatePath): CertificateRecord {
  const known = records.get(path);
  if (known !== undefined) {
    return known;
  }
  const [leaf] = path;
  const reference = { ...referenceInPath(path), anchorKey: keyName(path.at(-1) ?? leaf) };
  const record = { facts: leaf.facts, reference };
  records.set(path, record);
  return record;
}

/** Chains of known certificates are validated once, and their paths kept. */
const records = new WeakMap<CertificatePath, CertificateRecord>();

/** @param path null = none is known @param anchors among which its issuer may be */
export function recordOfForwarded(
  leaf: ParsedCertificate,
  path: CertificatePath | null,
  anchors: readonly ParsedCertificate[],
): CertificateRecord {
  const reference =
    path === null ? leafReference(leaf, issuerOf(leaf, anchors), []) : referenceInPath(path);
  return { facts: leaf.facts, reference };
}

/** Revocation covers every certificate of the path but the anchor. */
function referenceInPath(path: CertificatePath): CertificateReference {
  const [leaf, issuer = leaf] = path;
  const issuers = path
    .slice(1, -1)
    .map((authority, index) => referenceTo(authority, path[index + 2] ?? null));
  return leafReference(leaf, issuer, issuers);
}

function issuerOf(
  leaf: ParsedCertificate,
  anchors: readonly ParsedCertificate[],
): ParsedCertificate | null {
  const issuers = anchors.filter(({ x509 }) => leaf.x509.checkIssued(x509));
  return issuers.find(({ x509 }) => leaf.x509.verify(x509.publicKey)) ?? null;
}

function leafReference(
  leaf: ParsedCertificate,
  issuer: ParsedCertificate | null,
  issuers: readonly RevocationReference[],
): CertificateReference {
  const { subjectKeyId } = leaf.profile;
  return { ...referenceTo(leaf, issuer), subjectKeyId, anchorKey: null, issuers };
}

function referenceTo(
  { serialNumber, issuerDer, profile, sources }: ParsedCertificate,
  issuer: ParsedCertificate | null,
): RevocationReference {
  const key = issuer && issuerKeyOf(issuer);
  return {
    serialNumber,
    issuerName: issuerDer.toString('base64'),
    authorityKeyId: profile.authority.keyId,
    issuerKey: key?.name ?? null,
    ...(key !== null && { issuerSignsLists: key.signsLists }),
    ...sources,
  };
}

/** Names a public key: an authority may renew its certificate and keep the key. */
export function keyName(certificate: ParsedCertificate): string {
  return hashOfKey(issuerKeyOf(certificate).name);
}

const hashOfKey = (info: string): string =>
  createHash('sha256').update(Buffer.from(info, 'base64')).digest('hex');

/** False if there were authorities below the anchor that an earlier version did not store. */
export function hasWholePath({ issuers, issuerKey, anchorKey }: CertificateReference): boolean {
  const isDirect = issuerKey === null || anchorKey === null || hashOfKey(issuerKey) === anchorKey;
  return issuers !== undefined || isDirect;
}

/**
 * Keys that may sign statements about a stored certificate: its issuer's as it was seen first, then
 * those of authorities of this server with the issuer's name (RFC 5280, 6.3.3 f).
 */
export function issuerKeysOf(
  { issuerKey, issuerSignsLists, issuerName, authorityKeyId }: RevocationReference,
  anchors: readonly ParsedCertificate[],
): readonly IssuerKey[] {
  const named = anchors
    .filter(({ subjectDer }) => subjectDer.toString('base64') === issuerName)
    .toSorted(
      (a, b) =>
        Number(b.profile.subjectKeyId === authorityKeyId) -
        Number(a.profile.subjectKeyId === authorityKeyId),
    )
    .map(issuerKeyOf);
  return issuerKey === null ? named : [storedKey(issuerKey, issuerSignsLists), ...named];
}

/** @param name base64 of the SubjectPublicKeyInfo */
export function storedKey(name: string, signsLists = true): IssuerKey {
  const der = Buffer.from(name, 'base64');
  return { key: createPublicKey({ key: der, format: 'der', type: 'spki' }), name, signsLists };
}
