import { withCrypto } from '../../../../test/helpers/platform-crypto.js';
import { base64UrlOf, randomBytes, requireRandom, utf8Bytes, utf8Text } from './bytes.js';

describe('a conversion of bytes', () => {
  it('writes base64url without padding', () => {
    expect(base64UrlOf(Uint8Array.of(251, 255, 190, 0))).toBe('-_--AA');
  });

  it('reads and writes UTF-8', () => {
    const text = 'Gr\u00fc\u00dfe \u{1f30d}';
    expect(Buffer.from(utf8Bytes(text)).toString()).toBe(text);
    expect(utf8Text(Buffer.from(text))).toBe(text);
    expect(() => utf8Text(Uint8Array.of(0xff))).toThrow();
  });
});

describe(randomBytes.name, () => {
  it('returns other bytes each time, as many as requested', () => {
    const [one, other] = [randomBytes(32), randomBytes(32)];
    expect([one.length, other.length, randomBytes(5).length]).toEqual([32, 32, 5]);
    expect(one).not.toEqual(other);
  });
});

describe(requireRandom.name, () => {
  it('returns the source of the platform', () => {
    expect(requireRandom()).toBe(globalThis.crypto);
  });

  it.each([undefined, {}, { getRandomValues: 'x' }])(
    'names the remedy on a platform with %j',
    async (crypto) => {
      await withCrypto(crypto, () => {
        expect(() => randomBytes(1)).toThrow(/no crypto\.getRandomValues.*polyfill/);
      });
    },
  );
});
