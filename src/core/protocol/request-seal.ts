import { base64urlnopad, utf8 } from '@scure/base';
import { readBase64 } from './base64.js';
import { MAX_REQUEST_BYTES } from './agent-request.js';

/** Purposes of a seal. A value of one purpose cannot be opened as the other. */
export type SealPurpose = 'request' | 'answer';

/**
 * Infos of HKDF-SHA-256 over the account's secret, with an empty salt (contract, Formats). The keys of
 * seals are for AES-256-GCM; `answerSeed` is the seed of an Ed25519 key that signs answers only.
 */
export const REQUEST_KEY_INFOS = {
  request: 'gatehouse request v1',
  answer: 'gatehouse answer seal v1',
  answerSeed: 'gatehouse answer v1',
} as const satisfies Record<SealPurpose | 'answerSeed', string>;

export const SEAL_NONCE_BYTES = 12;
const SEAL_TAG_BYTES = 16;
const VERSION = '1.';
const MAX_SEALED_BYTES = SEAL_NONCE_BYTES + MAX_REQUEST_BYTES + SEAL_TAG_BYTES;

type Bytes = Uint8Array<ArrayBuffer>;

/** Returns the associated data of a seal, which binds it to its purpose, account and request. */
export function sealDataOf(purpose: SealPurpose, accountId: string, requestId: string): Bytes {
  // The line feed separates the parts, so that none may contain one.
  if (`${accountId}${requestId}`.includes('\n')) {
    throw new TypeError('The ids of an account and of a request have no line feeds.');
  }
  return Uint8Array.from(utf8.decode(`${purpose}\n${accountId}\n${requestId}`));
}

/** Returns `1.` and base64url of nonce, ciphertext and tag. */
export function joinSeal(nonce: Uint8Array, ciphertext: Uint8Array): string {
  return `${VERSION}${base64urlnopad.encode(Uint8Array.from([...nonce, ...ciphertext]))}`;
}

/** Splits the result of {@link joinSeal}; null for any other text. Each value has one spelling. */
export function splitSeal(
  sealed: string,
): { readonly nonce: Bytes; readonly ciphertext: Bytes } | null {
  const text = sealed.slice(VERSION.length);
  const isOurs = sealed.startsWith(VERSION) && /^[\w-]+$/.test(text);
  const bytes = isOurs
    ? readBase64(text, SEAL_NONCE_BYTES + SEAL_TAG_BYTES + 1, MAX_SEALED_BYTES)
    : null;
  return bytes === null
    ? null
    : {
        nonce: bytes.slice(0, SEAL_NONCE_BYTES),
        ciphertext: bytes.slice(SEAL_NONCE_BYTES),
      };
}
