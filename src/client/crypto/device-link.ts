import { sha256 } from '@noble/hashes/sha2.js';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { normalizeBase64 } from '../../policy/base64.js';
import { readUserCode, showUserCode } from '../../policy/flow/user-code.js';
import { parseServerUrl } from '../api/server-url.js';
import { readBase64 } from './bytes.js';

const KEY_BYTES = 32;
const PAGE = '/app/device';
const CHECK_WORDS = 5;
const BITS_PER_WORD = 11;

/** The content of a new device's QR code or link (contract, Adding a device). */
export interface DeviceLink {
  /** As {@link parseServerUrl} returns it. Compare it with the server of this client. */
  readonly serverUrl: string;
  /** `XXXX-XXXX` */
  readonly userCode: string;
  /** 43 characters of base64url. Seal to this key, not to one that a server returns. */
  readonly publicKey: string;
}

/** The link to show as a QR code. Browsers do not send the fragment to the server. */
export function deviceLink({ serverUrl, userCode, publicKey }: DeviceLink): string {
  return `${serverUrl}${PAGE}#${userCode}.${publicKey}`;
}

/** Reads the link of a QR code; null when it is not a device link. */
export function readDeviceLink(text: string): DeviceLink | null {
  const hash = text.indexOf('#');
  const page = text.slice(0, Math.max(hash, 0));
  const [code = '', key = '', ...more] = text.slice(hash + 1).split('.');
  const serverUrl = page.endsWith(PAGE) ? parseServerUrl(page.slice(0, -PAGE.length)) : null;
  const userCode = readUserCode(code);
  const publicKey = normalizeBase64(key, KEY_BYTES, KEY_BYTES);
  return serverUrl === null || userCode === null || publicKey === null || more.length > 0
    ? null
    : { serverUrl, userCode: showUserCode(userCode), publicKey };
}

/**
 * Five words that both devices show where the user code was typed: they differ if the server replaced
 * the key. 55 bits of SHA-256 of the key are too many to find a second key within ten minutes.
 *
 * @param publicKey base64
 * @throws TypeError where it is not 32 bytes
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

/** Eleven bits, the most significant ones first. */
function bitsAt(bytes: Uint8Array, first: number): number {
  const byte = first >> 3;
  const window =
    ((bytes[byte] ?? 0) << 16) | ((bytes[byte + 1] ?? 0) << 8) | (bytes[byte + 2] ?? 0);
  return (window >> (24 - BITS_PER_WORD - (first & 7))) & ((1 << BITS_PER_WORD) - 1);
}
