import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import type {
  CertificateRecord,
  CertificateReference,
} from '../../policy/certificate/certificate-record.js';
import type { CertificatePath } from './certificate-chain.js';
import type { ParsedCertificate } from './parse-certificate.js';

/** What is stored of a certificate whose chain this server validated. */
export function recordOfPath(path: CertificatePath): CertificateRecord {
  const known = records.get(path);
  if (known !== undefined) {
    return known;
  }
  const [leaf, issuer = leaf] = path;
  const anchor = path.at(-1) ?? leaf;
  const reference = { ...referenceTo(leaf, issuer), anchorKey: keyName(anchor) };
  const record = { facts: leaf.facts, reference };
  records.set(path, record);
  return record;
}

/** Chains of known certificates are validated once, and their paths kept. */
const records = new WeakMap<CertificatePath, CertificateRecord>();

/**
 * What is stored of a certificate whose chain a proxy validated.
 *
 * @param anchors of this server, among which its issuer may be
 */
export function recordOfLeaf(
  leaf: ParsedCertificate,
  anchors: readonly ParsedCertificate[],
): CertificateRecord {
  return { facts: leaf.facts, reference: referenceTo(leaf, issuerOf(leaf, anchors)) };
}

function issuerOf(
  leaf: ParsedCertificate,
  anchors: readonly ParsedCertificate[],
): ParsedCertificate | null {
  const issuers = anchors.filter(({ x509 }) => leaf.x509.checkIssued(x509));
  return issuers.find(({ x509 }) => leaf.x509.verify(x509.publicKey)) ?? null;
}

function referenceTo(
  leaf: ParsedCertificate,
  issuer: ParsedCertificate | null,
): CertificateReference {
  return {
    serialNumber: leaf.serialNumber,
    issuerName: leaf.issuerDer.toString('base64'),
    authorityKeyId: leaf.profile.authority.keyId,
    subjectKeyId: leaf.profile.subjectKeyId,
    issuerKey: issuer === null ? null : keyInfo(issuer.x509.publicKey).toString('base64'),
    anchorKey: null,
    ...leaf.sources,
  };
}

const keyInfo = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

/** Names a public key: an authority may renew its certificate and keep the key. */
export function keyName({ x509 }: ParsedCertificate): string {
  return createHash('sha256').update(keyInfo(x509.publicKey)).digest('hex');
}

/** A stored key that may have signed revocation information. */
export interface IssuerKey {
  readonly key: KeyObject;
  readonly name: string;
}

/**
 * Keys that may have signed what is said of a stored certificate: its issuer's, as it was seen, first;
 * then those of authorities of this server with the issuer's name (RFC 5280, 6.3.3 f).
 */
export function issuerKeysOf(
  { issuerKey, issuerName, authorityKeyId }: CertificateReference,
  anchors: readonly ParsedCertificate[],
): readonly IssuerKey[] {
  const named = anchors
    .filter(({ subjectDer }) => subjectDer.toString('base64') === issuerName)
    .toSorted(
      (a, b) =>
        Number(b.profile.subjectKeyId === authorityKeyId) -
        Number(a.profile.subjectKeyId === authorityKeyId),
    )
    .map(({ x509: { publicKey: key } }) => ({ key, name: keyInfo(key).toString('base64') }));
  if (issuerKey === null) {
    return named;
  }
  const der = Buffer.from(issuerKey, 'base64');
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
  return [{ key, name: issuerKey }, ...named];
}
