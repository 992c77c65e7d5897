import { constants, verify, type KeyObject } from 'node:crypto';
import { AsnConvert } from '@peculiar/asn1-schema';
import { AlgorithmIdentifier } from '@peculiar/asn1-x509';
import { RSASSA_PSS, signatureName } from './parse-certificate.js';

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

/** What an authority signed: a revocation list or an OCSP response. */
export interface Signed {
  readonly data: Buffer;
  /** DER of the AlgorithmIdentifier. */
  readonly algorithm: Buffer;
  /** Contents of the BIT STRING, without the count of unused bits. */
  readonly signature: Buffer;
}

/** Whether the key made the signature. Algorithms with SHA-1 or MD5 are refused. */
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
