const bytes = (hex: string): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/** p = 2^255 - 19, the field of edwards25519, little-endian (RFC 8032, section 5.1). */
const FIELD_PRIME = bytes('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f');
/** L, the order of the base point, little-endian (RFC 8032, section 5.1). */
const GROUP_ORDER = bytes('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010');

/**
 * The y coordinates of the eight points whose order divides 8. A public key or a commitment that
 * is one of them makes signatures verify that nobody made: such an account is open to anyone.
 */
const LOW_ORDER_Y: readonly Uint8Array[] = [
  bytes('0000000000000000000000000000000000000000000000000000000000000000'),
  bytes('0100000000000000000000000000000000000000000000000000000000000000'),
  bytes('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05'),
  bytes('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a'),
  bytes('ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'),
];

export type DeviceKeyVerdict = 'ok' | 'wrong-length' | 'non-canonical' | 'low-order';

/**
 * Whether 32 bytes may be an account's Ed25519 key: y below p (no second encoding of one point)
 * and not of low order. Says nothing about whether the point is on the curve: verifying does.
 */
export function judgePublicKey(key: Uint8Array): DeviceKeyVerdict {
  return key.length === 32 ? judgePoint(key) : 'wrong-length';
}

/**
 * Whether 64 bytes have the form of a signature: R canonical and not of low order, S below L
 * (RFC 8032, section 5.1.7). Cheap, so it comes before the curve arithmetic.
 */
export function isStrictSignature(signature: Uint8Array): boolean {
  return (
    signature.length === 64 &&
    judgePoint(signature.subarray(0, 32)) === 'ok' &&
    isBelow(signature.subarray(32), GROUP_ORDER, 0xff)
  );
}

function judgePoint(encoded: Uint8Array): DeviceKeyVerdict {
  if (!isBelow(encoded, FIELD_PRIME, 0x7f)) {
    return 'non-canonical';
  }
  return LOW_ORDER_Y.some((y) => isSamePoint(encoded, y)) ? 'low-order' : 'ok';
}

/** Little-endian `a < b`; the sign bit of a point is masked out of the top byte. */
function isBelow(a: Uint8Array, b: Uint8Array, topMask: number): boolean {
  for (let index = 31; index >= 0; index -= 1) {
    const left = (a[index] ?? 0) & (index === 31 ? topMask : 0xff);
    const right = b[index] ?? 0;
    if (left !== right) {
      return left < right;
    }
  }
  return false;
}

function isSamePoint(encoded: Uint8Array, y: Uint8Array): boolean {
  return y.every((byte, index) => byte === ((encoded[index] ?? 0) & (index === 31 ? 0x7f : 0xff)));
}
