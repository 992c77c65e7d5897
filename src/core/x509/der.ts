export interface DerElement {
  readonly tag: number;
  /** The bytes with tag and length. */
  readonly whole: Buffer;
  readonly contents: Buffer;
}

/**
 * The element at an offset. A grammar that makes an object of every entry takes seconds for a long
 * revocation list.
 * @throws RangeError when there is none, or its length is not definite
 */
export function derAt(bytes: Buffer, offset: number): DerElement {
  const tag = bytes.readUInt8(offset);
  const first = bytes.readUInt8(offset + 1);
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (first === 0x80 || lengthBytes > 6) {
    throw new RangeError('The length is not one of DER.');
  }
  const start = offset + 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(offset + 2, lengthBytes);
  if (start + length > bytes.length) {
    throw new RangeError('The element is longer than what holds it.');
  }
  const whole = bytes.subarray(offset, start + length);
  return { tag, whole, contents: bytes.subarray(start, start + length) };
}

/** @throws RangeError */
export function* derElements(bytes: Buffer): Generator<DerElement, void, undefined> {
  for (let offset = 0; offset < bytes.length;) {
    const element = derAt(bytes, offset);
    offset += element.whole.length;
    yield element;
  }
}

export const DER_BIT_STRING = 0x03;
export const DER_INTEGER = 0x02;
export const DER_SEQUENCE = 0x30;
