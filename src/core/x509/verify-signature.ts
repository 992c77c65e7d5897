import { constants, verify, type KeyObject } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import { AlgorithmIdentifier, KeyUsageFlags } from '@peculiar/asn1-x509';
import {
  allowsKeyUse,
  RSASSA_PSS,
  signatureName,
  type ParsedCertificate,
} from './parse-certificate.js';

/** The key of an authority, which may sign revocation information. */
export interface IssuerKey {
  readonly key: KeyObject;
  /** The SubjectPublicKeyInfo, base64 DER. */
  readonly name: string;
  /** False if its key usage excludes `cRLSign` (RFC 5280, 6.3.3 f). */
  readonly signsLists: boolean;
}

export function issuerKeyOf({ x509: { publicKey: key }, profile }: ParsedCertificate): IssuerKey {
  const name = key.export({ type: 'spki', format: 'der' }).toString('base64');
  return { key, name, signsLists: allowsKeyUse(profile, KeyUsageFlags.cRLSign) };
}

/** Hashes by signature algorithm, for RSASSA-PSS by that of the hash; null = the algorithm has its own. */
const HASHES: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '2.16.840.1.101.3.4.2.1': 'sha256',
  '2.16.840.1.101.3.4.2.2': 'sha384',
  '2.16.840.1.101.3.4.2.3': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
  '1.3.101.113': null,
};

export interface Signed {
  readonly data: Buffer;
  /** DER of the AlgorithmIdentifier. */
  readonly algorithm: Buffer;
  /** Contents of the BIT STRING, without the count of unused bits. */
  readonly signature: Buffer;
}

/** Algorithms with SHA-1 or MD5 are refused. */
export function isSignedBy(key: KeyObject, { data, algorithm, signature }: Signed): boolean {
  try {
    const parsed = AsnConvert.parse(algorithm, AlgorithmIdentifier);
    const hash = HASHES[signatureName(parsed)];
    if (hash === undefined) {
      return false;
    }
    const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_AUTO: saltLength } = constants;
    const options = parsed.algorithm === RSASSA_PSS ? { key, padding, saltLength } : key;
    return verify(hash, data, options, signature);
  } catch {
    // A key of another kind than the algorithm's.
    return false;
  }
}
