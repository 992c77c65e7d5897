import { generateKeyPairSync, sign } from 'node:crypto';
import { isStrictSignature, judgePublicKey } from './device-key.js';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');

const LOW_ORDER_ENCODINGS = [
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '0000000000000000000000000000000000000000000000000000000000000000',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
];
const ALIASES = [
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
];

describe(judgePublicKey.name, () => {
  it.each(LOW_ORDER_ENCODINGS)('refuses the low-order point %s', (encoding) => {
    expect(judgePublicKey(hex(encoding))).toBe('low-order');
  });

  it.each(ALIASES)('refuses %s, a second spelling of a point', (encoding) => {
    expect(judgePublicKey(hex(encoding))).toBe('non-canonical');
  });

  it('refuses keys of 31 and 33 bytes', () => {
    expect(judgePublicKey(new Uint8Array(31))).toBe('wrong-length');
    expect(judgePublicKey(new Uint8Array(33))).toBe('wrong-length');
  });

  it('accepts freshly made keys, and their signatures', () => {
    for (let round = 0; round < 50; round += 1) {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519');
      const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
      expect(judgePublicKey(raw)).toBe('ok');
      expect(isStrictSignature(sign(null, Buffer.from('x'), privateKey))).toBe(true);
    }
  });
});

describe(isStrictSignature.name, () => {
  const { privateKey } = generateKeyPairSync('ed25519');
  const genuine = sign(null, Buffer.from('challenge'), privateKey);
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;

  const withS = (s: bigint): Buffer => {
    const bytes = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse();
    return Buffer.concat([genuine.subarray(0, 32), bytes]);
  };

  it('refuses S equal to and above the group order', () => {
    const s = BigInt(`0x${Buffer.from(genuine.subarray(32)).reverse().toString('hex')}`);
    expect(isStrictSignature(withS(order - 1n))).toBe(true);
    expect(isStrictSignature(withS(order))).toBe(false);
    expect(isStrictSignature(withS(s + order))).toBe(false);
  });

  it('refuses a low-order commitment', () => {
    const forged = Buffer.concat([hex(LOW_ORDER_ENCODINGS[0] ?? ''), Buffer.alloc(32)]);
    expect(isStrictSignature(forged)).toBe(false);
  });

  it('refuses 63 and 65 bytes', () => {
    expect(isStrictSignature(genuine.subarray(1))).toBe(false);
    expect(isStrictSignature(Buffer.concat([genuine, Buffer.alloc(1)]))).toBe(false);
  });
});
