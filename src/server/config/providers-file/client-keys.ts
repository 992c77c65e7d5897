import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';

const LEAST_RSA_BITS = 2048;
const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----/g;
const CURVES: Readonly<Record<string, string>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};

/** A key that signs client assertions (RFC 7523, 2.2). */
export interface ClientKey {
  readonly privateKey: KeyObject;
  readonly publicJwk: JsonWebKey;
  /** Matching JWS algorithms, the preferred one first. */
  readonly algorithms: readonly [string, ...string[]];
}

/** @throws Error that completes "names a file that …" and quotes nothing of the file */
export function readClientKeys(text: string): readonly [ClientKey, ...ClientKey[]] {
  const [first, ...others] = (text.match(PRIVATE_KEY) ?? []).map(readClientKey);
  if (first === undefined) {
    throw new Error('has no private key in PEM');
  }
  return [first, ...others];
}

function readClientKey(pem: string): ClientKey {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch {
    throw new Error('has a private key that cannot be read (encrypted or damaged)');
  }
  const algorithms = algorithmsOf(privateKey);
  if (algorithms === null) {
    throw new Error(
      'has a key that is neither RSA (2048 bits or more), EC (P-256 to P-521) nor Ed25519',
    );
  }
  return {
    privateKey,
    algorithms,
    publicJwk: createPublicKey(privateKey).export({ format: 'jwk' }),
  };
}

function algorithmsOf(key: KeyObject): ClientKey['algorithms'] | null {
  const { modulusLength = 0, namedCurve = '' } = key.asymmetricKeyDetails ?? {};
  const curve = CURVES[namedCurve];
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return modulusLength >= LEAST_RSA_BITS ? ['RS256', 'PS256'] : null;
    case 'ec':
      return curve === undefined ? null : [curve];
    case 'ed25519':
      return ['EdDSA', 'Ed25519'];
    default:
      return null;
  }
}
