import { ed25519 } from '@noble/curves/ed25519.js';
import { readBase64 } from '../../../core/protocol/base64.js';

const ALGORITHM = 'Ed25519';
const KEY_BYTES = 32;
/** The bytes before the seed in PKCS #8 (RFC 8410, 7). */
const PKCS8_HEAD = [48, 46, 2, 1, 0, 48, 5, 6, 3, 43, 101, 112, 4, 34, 4, 32];

type Bytes = Uint8Array<ArrayBuffer>;

/** The form of a seed that Web Crypto imports. */
export function pkcs8Of(seed: Bytes): Bytes {
  return Uint8Array.from([...PKCS8_HEAD, ...seed]);
}

export async function publicKeyOf(seed: Bytes): Promise<Uint8Array> {
  const native = await natively(seed, async (subtle, key) => {
    const { x = '' } = await subtle.exportKey('jwk', key);
    return readBase64(x, KEY_BYTES, KEY_BYTES);
  });
  return native ?? ed25519.getPublicKey(seed);
}

export async function signWith(seed: Bytes, message: Bytes): Promise<Uint8Array> {
  const native = await natively(
    seed,
    async (subtle, key) => new Uint8Array(await subtle.sign(ALGORITHM, key, message)),
  );
  return native ?? ed25519.sign(message, seed);
}

/** Strict (RFC 8032): a signature has one form. */
export function verifyWith(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** Web Crypto is faster and runs in constant time. Returns null where it lacks Ed25519. */
async function natively(
  seed: Bytes,
  use: (
    subtle: typeof crypto.subtle,
    key: Awaited<ReturnType<typeof crypto.subtle.importKey>>,
  ) => Promise<Uint8Array | null>,
): Promise<Uint8Array | null> {
  const { crypto } = globalThis as { readonly crypto?: Partial<typeof globalThis.crypto> };
  if (crypto?.subtle === undefined) {
    return null;
  }
  try {
    const key = await crypto.subtle.importKey('pkcs8', pkcs8Of(seed), ALGORITHM, true, ['sign']);
    return await use(crypto.subtle, key);
  } catch {
    return null;
  }
}
