import { sha256 } from '@noble/hashes/sha2.js';
import { utf8 } from '@scure/base';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import type { AccountMode, KeyMode } from '../policy/operator-policy.js';
import { normalizeBase64 } from './base64.js';

const KEY_BYTES = 32;
const LABEL = 'gatehouse device v2';
const WORDS = 5;
const BITS_PER_WORD = 11;
/** The number of words that a person has to type on the new device. */
const TYPED_WORDS = 3;

/** The new device as the device that approves knows it. */
export interface DeviceIdentity {
  /** Raw X25519 key, base64. */
  readonly publicKey: string;
  /** The origins of the server, which both devices have checked. */
  readonly origins: readonly string[];
}

/** The account as it is sealed to a new device. */
export interface HandoverFacts {
  readonly accountId: string;
  readonly keyMode: KeyMode;
  readonly encryptionMode: AccountMode;
  /** The public key of the account, base64url; null for an account without one. */
  readonly accountKey: string | null;
  /** 32 random bytes, base64url. Only the two devices know it. */
  readonly nonce: string;
}

/**
 * Five words of a new device's key: 55 bits of SHA-256, too many to find a second key within ten
 * minutes. Both screens show them before anything is sealed to a typed code.
 *
 * @throws TypeError where the key is not 32 bytes in base64
 */
export function deviceKeyWords(device: DeviceIdentity): readonly string[] {
  return wordsOf(identity(device));
}

/**
 * Five words of a sealed account. The device that approved shows them, and the person types the
 * first three on the new device: a server that seals an account of its own cannot know them.
 */
export function handoverWords(device: DeviceIdentity, account: HandoverFacts): readonly string[] {
  const { accountId, keyMode, encryptionMode, accountKey, nonce } = account;
  return wordsOf([
    ...identity(device),
    accountId,
    keyMode,
    encryptionMode,
    accountKey ?? '',
    nonce,
  ]);
}

/**
 * Compares what a person typed: in any case, with any blanks. The other words may follow, because
 * the device that approved shows them too, and there is one try.
 */
export function isTypedWords(words: readonly string[], typed: string): boolean {
  const given = typed.trim().toLowerCase().split(/\s+/);
  return given.length >= TYPED_WORDS && given.every((word, index) => word === words[index]);
}

function identity({ publicKey, origins }: DeviceIdentity): readonly string[] {
  const key = normalizeBase64(publicKey, KEY_BYTES, KEY_BYTES);
  if (key === null) {
    throw new TypeError('This is no key of a device: it has 32 bytes of base64.');
  }
  return [LABEL, origins.join(' '), key];
}

function wordsOf(lines: readonly string[]): readonly string[] {
  if (lines.some((line) => line.includes('\n'))) {
    throw new TypeError('A line feed separates the parts.');
  }
  const hash = sha256(utf8.decode(lines.join('\n')));
  return Array.from({ length: WORDS }, (_value, word) => {
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
