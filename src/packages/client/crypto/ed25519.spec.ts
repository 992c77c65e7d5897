import { createPrivateKey } from 'node:crypto';
import { withCrypto } from '../../../../test/helpers/platform-crypto.js';
import { pkcs8Of, publicKeyOf, signWith, verifyWith } from './ed25519.js';

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'));
const hex = (of: Uint8Array): string => Buffer.from(of).toString('hex');

/** RFC 8032, 7.1, test 2. */
const SEED = bytes('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb');
const PUBLIC = '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c';
const MESSAGE = bytes('72');
const SIGNATURE =
  '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
  '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00';

type Subtle = typeof crypto.subtle;

/** Every engine needs it, also for the arithmetic in JavaScript. */
const getRandomValues = crypto.getRandomValues.bind(crypto);

/** The platform's Web Crypto, with the names of the operations that were used. */
function recorded(change: Partial<Record<keyof Subtle, unknown>> = {}) {
  const { subtle } = crypto;
  const used: string[] = [];
  const recordedSubtle = new Proxy(subtle, {
    get(_target, name) {
      used.push(String(name));
      const own = change[name as keyof Subtle] ?? subtle[name as keyof Subtle];
      return (own as (...parts: unknown[]) => unknown).bind(subtle);
    },
  });
  return { used, platform: { getRandomValues, subtle: recordedSubtle } };
}

const platforms: [string, () => object][] = [
  ['with Web Crypto', () => recorded().platform],
  ['without Web Crypto', () => ({ getRandomValues })],
  [
    'with Web Crypto that lacks Ed25519',
    () =>
      recorded({ importKey: () => Promise.reject(new DOMException('x', 'NotSupportedError')) })
        .platform,
  ],
  [
    'with Web Crypto that exports another form',
    () => recorded({ exportKey: () => Promise.resolve({ kty: 'OKP' }) }).platform,
  ],
];

describe.each(platforms)('Ed25519 %s', (_title, platform) => {
  it('has the public key and the signature of RFC 8032', async () => {
    await withCrypto(platform(), async () => {
      expect(hex(await publicKeyOf(SEED))).toBe(PUBLIC);
      expect(hex(await signWith(SEED, MESSAGE))).toBe(SIGNATURE);
    });
  });
});

describe('Ed25519', () => {
  it('is that of Web Crypto where the platform has it', async () => {
    const { used, platform } = recorded();
    await withCrypto(platform, async () => {
      await publicKeyOf(SEED);
      await signWith(SEED, MESSAGE);
    });
    expect(used).toEqual(['importKey', 'exportKey', 'importKey', 'sign']);
  });

  it('uses the result of Web Crypto', async () => {
    const own = { sign: () => Promise.resolve(new ArrayBuffer(64)) };
    await withCrypto(recorded(own).platform, async () => {
      expect(hex(await signWith(SEED, MESSAGE))).toBe('00'.repeat(64));
    });
    const exported = { exportKey: () => Promise.resolve({ x: 'A'.repeat(43) }) };
    await withCrypto(recorded(exported).platform, async () => {
      expect(hex(await publicKeyOf(SEED))).toBe('00'.repeat(32));
    });
  });

  it('writes the seed as PKCS #8', () => {
    const key = createPrivateKey({ key: Buffer.from(pkcs8Of(SEED)), format: 'der', type: 'pkcs8' });
    expect(key.export({ format: 'jwk' })).toMatchObject({
      ...{ crv: 'Ed25519', d: Buffer.from(SEED).toString('base64url') },
    });
  });
});

describe('a platform without crypto', () => {
  it('has no key, and the error names what is missing', async () => {
    await withCrypto(undefined, async () => {
      await expect(publicKeyOf(SEED)).rejects.toThrow('getRandomValues');
      await expect(signWith(SEED, MESSAGE)).rejects.toThrow('getRandomValues');
    });
  });
});

describe(verifyWith.name, () => {
  const verify = (key: string, message: Uint8Array, signature: string): boolean =>
    verifyWith(bytes(key), message, bytes(signature));

  it('accepts a signature of the key, and no other', () => {
    expect(verify(PUBLIC, MESSAGE, SIGNATURE)).toBe(true);
    expect(verify(PUBLIC, bytes('73'), SIGNATURE)).toBe(false);
    expect(verify(PUBLIC, MESSAGE, `00${SIGNATURE.slice(2)}`)).toBe(false);
  });

  it('refuses what has no form of a signature or a key', () => {
    expect(verify(PUBLIC, MESSAGE, SIGNATURE.slice(2))).toBe(false);
    expect(verify(PUBLIC.slice(2), MESSAGE, SIGNATURE)).toBe(false);
  });

  it('refuses a key of small order, for which anyone can make a signature', () => {
    const neutral = `01${'00'.repeat(31)}`;
    expect(verify(neutral, MESSAGE, `${neutral}${'00'.repeat(32)}`)).toBe(false);
  });
});
