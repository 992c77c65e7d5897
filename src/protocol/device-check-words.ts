import { sha256 } from '@noble/hashes/sha2.js';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { readBase64 } from './base64.js';

const KEY_BYTES = 32;
const CHECK_WORDS = 5;
const BITS_PER_WORD = 11;

/**
 * Five words that both devices show: they differ if the server replaced the key. 55 bits of SHA-256
 * are too many to find a second key within ten minutes.
 * @throws TypeError where the key is not 32 bytes in base64
 */
export function deviceCheckWords(publicKey: string): readonly string[] {
  const key = readBase64(publicKey, KEY_BYTES, KEY_BYTES);
  if (key === null) {
    throw new TypeError('This is no key of a device: it has 32 bytes of base64.');
  }
  const hash = sha256(key);
  return Array.from({ length: CHECK_WORDS }, (_value, word) => {
    const index = bitsAt(hash, word * BITS_PER_WORD);
    return wordlist[index] ?? '';
  });
}

/** The most significant bits come first. */
function bitsAt(bytes: Uint8Array, first: number): number {
  const byte = first >> 3;
  const window =
    ((bytes[byte] ?? 0) << 16) | ((bytes[byte + 1] ?? 0) << 8) | (bytes[byte + 2] ?? 0);
  return (window >> (24 - BITS_PER_WORD - (first & 7))) & ((1 << BITS_PER_WORD) - 1);
}
