import { normalizeBase64 } from './base64.js';

/** p, the field of edwards25519, and L, the order of its base point (RFC 8032, section 5.1). */
const FIELD_PRIME = 2n ** 255n - 19n;
const GROUP_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** The positive y coordinate of the points of order 8 that is below p / 2. */
const ORDER_8_Y = 0x5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826n;
/** Points whose order divides 8. As a key or a commitment they make forged signatures verify. */
const LOW_ORDER_Y = [0n, 1n, FIELD_PRIME - 1n, ORDER_8_Y, FIELD_PRIME - ORDER_8_Y];

const MAX_CHALLENGE_BYTES = 1024;

/** Each field is in base64. */
export interface SentProof {
  readonly publicKey: string;
  readonly challenge: string;
  readonly signature: string;
}

/** The decoded proof: well formed, with an unverified signature. */
export interface SignedChallenge {
  /** Raw, 32 bytes. */
  readonly publicKey: Buffer;
  readonly challenge: Buffer;
  readonly signature: Buffer;
}

/** Returns the name of a malformed field. */
export function readSignedChallenge(sent: SentProof): SignedChallenge | keyof SentProof {
  const publicKey = readPublicKey(sent.publicKey);
  if (publicKey === null) {
    return 'publicKey';
  }
  const challenge = decodeBase64(sent.challenge, 1, MAX_CHALLENGE_BYTES);
  if (challenge === null) {
    return 'challenge';
  }
  const signature = decodeBase64(sent.signature, 64, 64);
  return signature !== null && isStrictSignature(signature)
    ? { publicKey, challenge, signature }
    : 'signature';
}

export function readPublicKey(text: string): Buffer | null {
  const key = decodeBase64(text, 32, 32);
  return key !== null && judgePublicKey(key) === 'ok' ? key : null;
}

function decodeBase64(text: string, minBytes: number, maxBytes: number): Buffer | null {
  const normalized = normalizeBase64(text, minBytes, maxBytes);
  return normalized === null ? null : Buffer.from(normalized, 'base64url');
}

type DeviceKeyVerdict = 'ok' | 'wrong-length' | 'non-canonical' | 'low-order';

/** Accepts y below p, not of low order. Verification checks that the point is on the curve. */
export function judgePublicKey(key: Uint8Array): DeviceKeyVerdict {
  return key.length === 32 ? judgePoint(key) : 'wrong-length';
}

/** Accepts a canonical R, not of low order, and S below L (RFC 8032, section 5.1.7). */
export function isStrictSignature(signature: Uint8Array): boolean {
  return (
    signature.length === 64 &&
    judgePoint(signature.subarray(0, 32)) === 'ok' &&
    littleEndian(signature.subarray(32)) < GROUP_ORDER
  );
}

function judgePoint(encoded: Uint8Array): DeviceKeyVerdict {
  // The top bit is the sign of x.
  const y = BigInt.asUintN(255, littleEndian(encoded));
  if (y >= FIELD_PRIME) {
    return 'non-canonical';
  }
  return LOW_ORDER_Y.includes(y) ? 'low-order' : 'ok';
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
}
