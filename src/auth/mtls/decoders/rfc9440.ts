import { parseItem, parseList } from 'structured-headers';
import { allOrNull, decodeStrictBase64 } from './strict-base64.js';

/** RFC 9440: `Client-Cert` is one byte sequence, `Client-Cert-Chain` a list without the leaf. */
export function decodeRfc9440(text: string, chain: string | null): Buffer[] | null {
  try {
    const leaf = toBytes(text, parseItem(text)[0]);
    const members = chain === null ? [] : parseList(chain);
    const parts = chain === null ? [] : chain.split(',');
    return allOrNull([
      leaf,
      ...members.map(([value], index) => toBytes(parts[index]?.trim() ?? '', value)),
    ]);
  } catch {
    return null;
  }
}

/** The parser forgives padding (RFC 9651, 4.2.7 lets it), and parameters mean nothing here. */
function toBytes(text: string, value: unknown): Buffer | null {
  if (!(value instanceof ArrayBuffer) || !text.startsWith(':') || !text.endsWith(':')) {
    return null;
  }
  return decodeStrictBase64(text.slice(1, -1));
}
