const STANDARD = /^[A-Za-z0-9+/]*={0,2}$/;
const URL_SAFE = /^[A-Za-z0-9_-]*={0,2}$/;
const PADDING = /=+$/;

/** Bytes of n base64 characters without padding; null when no byte string has that many. */
function byteLength(characters: number): number | null {
  return characters % 4 === 1 ? null : Math.floor((characters * 3) / 4);
}

/**
 * Normalises strict base64 (standard or url-safe, padded or not) to unpadded base64url.
 * Mixed alphabets, white space, wrong padding and stray trailing bits are refused: one byte
 * string has one spelling per alphabet, so nothing can be replayed under another spelling.
 *
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

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function hasStrayBits(urlSafe: string): boolean {
  const unusedBits = { 2: 4, 3: 2 }[urlSafe.length % 4] ?? 0;
  const last = ALPHABET.indexOf(urlSafe.slice(-1) || 'A');
  return (last & ((1 << unusedBits) - 1)) !== 0;
}
