import { base64urlnopad } from '@scure/base';

const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/;
const URL_SAFE = /^[A-Za-z0-9_-]*={0,2}$/;
const PADDING = /=+$/;

/** Without padding; null for an impossible length. */
function byteLength(characters: number): number | null {
  return characters % 4 === 1 ? null : Math.floor((characters * 3) / 4);
}

/**
 * One byte string has one spelling per alphabet, so nothing can be replayed under another: mixed
 * alphabets, white space, wrong padding and stray trailing bits are refused.
 * @returns null when the text is not strict base64 of `minBytes` to `maxBytes` bytes
 */
export function normalizeBase64(text: string, minBytes: number, maxBytes: number): string | null {
  if (text.length > Math.ceil(maxBytes / 3) * 4) {
    return null;
  }
  if (!STANDARD.test(text) && !URL_SAFE.test(text)) {
    return null;
  }
  const bare = text.replace(PADDING, '');
  const padded = bare.length !== text.length;
  const bytes = byteLength(bare.length);
  if (bytes === null || bytes < minBytes || bytes > maxBytes || (padded && text.length % 4 !== 0)) {
    return null;
  }
  const urlSafe = bare.replaceAll('+', '-').replaceAll('/', '_');
  return hasStrayBits(urlSafe) ? null : urlSafe;
}

/** @returns null for any text that {@link normalizeBase64} refuses */
export function readBase64(
  text: string,
  minBytes: number,
  maxBytes: number,
): Uint8Array<ArrayBuffer> | null {
  const normalized = normalizeBase64(text, minBytes, maxBytes);
  return normalized === null ? null : Uint8Array.from(base64urlnopad.decode(normalized));
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function hasStrayBits(urlSafe: string): boolean {
  const unusedBits = { 2: 4, 3: 2 }[urlSafe.length % 4] ?? 0;
  const last = ALPHABET.indexOf(urlSafe.slice(-1) || 'A');
  return (last & ((1 << unusedBits) - 1)) !== 0;
}
