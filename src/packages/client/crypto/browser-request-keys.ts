import type { SealPurpose } from '../../../core/protocol/request-seal.js';
import { pkcs8Of, publicKeyOf } from './ed25519.js';
import { deriveRequestKeyBytes, type RequestKeys } from './request-keys.js';

type Subtle = typeof globalThis.crypto.subtle;
type SubtleKey = Awaited<ReturnType<Subtle['importKey']>>;

const CURVE = 'Ed25519';
const CIPHER = 'AES-GCM';

/**
 * Keys that IndexedDB stores and no script can export: the account's secret cannot be derived from
 * them. One entry for each origin and account.
 */
export interface StoredRequestKeys extends Readonly<Record<SealPurpose, SubtleKey>> {
  /** Signs answers. */
  readonly answerKey: SubtleKey;
  readonly answerPublicKey: SubtleKey;
}

/** True where Web Crypto has Ed25519 and AES-GCM: elsewhere a browser can only show and deny. */
export async function canKeepRequestKeys(): Promise<boolean> {
  const { crypto } = globalThis as { readonly crypto?: Partial<typeof globalThis.crypto> };
  try {
    const pair = await crypto?.subtle?.generateKey(CURVE, false, ['sign', 'verify']);
    return pair !== undefined;
  } catch {
    return false;
  }
}

/**
 * Derives the keys of an account for a browser to keep, without the secret.
 * Rejects where {@link canKeepRequestKeys} is false.
 *
 * @param secret of the account's key: `key.bytes`
 */
export async function importRequestKeys(secret: Uint8Array): Promise<StoredRequestKeys> {
  const { subtle } = globalThis.crypto;
  const bytes = deriveRequestKeyBytes(secret);
  const cipherKey = (purpose: SealPurpose): Promise<SubtleKey> =>
    subtle.importKey('raw', bytes[purpose], CIPHER, false, ['encrypt', 'decrypt']);
  try {
    const publicKey = Uint8Array.from(await publicKeyOf(bytes.answerSeed));
    const pkcs8 = pkcs8Of(bytes.answerSeed);
    return {
      request: await cipherKey('request'),
      answer: await cipherKey('answer'),
      answerKey: await subtle.importKey('pkcs8', pkcs8, CURVE, false, ['sign']),
      answerPublicKey: await subtle.importKey('raw', publicKey, CURVE, true, ['verify']),
    };
  } finally {
    Object.values(bytes).forEach((one: Uint8Array) => one.fill(0));
  }
}

/** The keys that a browser stored, for {@link AccountRequests}. */
export function browserRequestKeys(stored: StoredRequestKeys): RequestKeys {
  const { subtle } = globalThis.crypto;
  return {
    async encrypt(purpose, iv, plaintext, additionalData) {
      const algorithm = { name: CIPHER, iv, additionalData };
      return new Uint8Array(await subtle.encrypt(algorithm, stored[purpose], plaintext));
    },
    async decrypt(purpose, iv, ciphertext, additionalData) {
      const algorithm = { name: CIPHER, iv, additionalData };
      return new Uint8Array(await subtle.decrypt(algorithm, stored[purpose], ciphertext));
    },
    async sign(message) {
      return new Uint8Array(await subtle.sign(CURVE, stored.answerKey, message));
    },
    verify: (message, signature) =>
      subtle.verify(CURVE, stored.answerPublicKey, signature, message),
  };
}
