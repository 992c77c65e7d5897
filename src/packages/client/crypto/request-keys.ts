import { gcm } from '@noble/ciphers/aes.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { REQUEST_KEY_INFOS, type SealPurpose } from '../../../core/protocol/request-seal.js';
import { utf8Bytes } from './bytes.js';
import { publicKeyOf, signWith, verifyWith } from './ed25519.js';
import { ACCOUNT_SECRET_BYTES } from './key-text.js';

const KEY_BYTES = 32;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The keys of an account for requests and answers. The bytes of the keys may be out of reach, as those
 * of {@link browserRequestKeys}.
 */
export interface RequestKeys {
  encrypt(purpose: SealPurpose, nonce: Bytes, plaintext: Bytes, data: Bytes): Promise<Uint8Array>;
  /** Rejects where the text is not authentic. */
  decrypt(purpose: SealPurpose, nonce: Bytes, ciphertext: Bytes, data: Bytes): Promise<Uint8Array>;
  /** Signs with the answer key, which signs answers only. */
  sign(message: Bytes): Promise<Uint8Array>;
  verify(message: Bytes, signature: Bytes): Promise<boolean>;
}

/** The bytes of {@link RequestKeys}. */
export interface RequestKeyBytes extends Readonly<Record<SealPurpose, Bytes>> {
  readonly answerSeed: Bytes;
}

/**
 * The three keys, by HKDF-SHA-256 of the account's secret (contract, Formats).
 *
 * @param secret 32 bytes
 */
export function deriveRequestKeyBytes(secret: Uint8Array): RequestKeyBytes {
  if (secret.length !== ACCOUNT_SECRET_BYTES) {
    throw new TypeError(`An account's secret has ${ACCOUNT_SECRET_BYTES} bytes.`);
  }
  const derive = (info: string): Bytes =>
    Uint8Array.from(hkdf(sha256, secret, undefined, utf8Bytes(info), KEY_BYTES));
  const { request, answer, answerSeed } = REQUEST_KEY_INFOS;
  return { request: derive(request), answer: derive(answer), answerSeed: derive(answerSeed) };
}

/**
 * The keys of an account, in any engine. A browser stores those of {@link importRequestKeys} instead,
 * which scripts cannot read.
 *
 * @param secret of the account's key: `key.bytes`
 */
export function requestKeys(secret: Uint8Array): RequestKeys {
  const keys = deriveRequestKeyBytes(secret);
  let publicKey: Promise<Uint8Array> | undefined;
  return {
    encrypt: (purpose, nonce, plaintext, data) =>
      soon(() => gcm(keys[purpose], nonce, data).encrypt(plaintext)),
    decrypt: (purpose, nonce, ciphertext, data) =>
      soon(() => gcm(keys[purpose], nonce, data).decrypt(ciphertext)),
    sign: (message) => signWith(keys.answerSeed, message),
    async verify(message, signature) {
      publicKey ??= publicKeyOf(keys.answerSeed);
      return verifyWith(await publicKey, message, signature);
    },
  };
}

function soon(work: () => Uint8Array): Promise<Uint8Array> {
  return Promise.resolve().then(work);
}
