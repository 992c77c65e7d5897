import { allOrNull, decodeStrictBase64 } from './strict-base64.js';

/** Base64 DER, several joined by commas, the leaf first: Traefik (2.8 percent-encoded it), HAProxy, Caddy. */
export function decodeBase64Der(text: string): Buffer[] | null {
  try {
    // `%` is not in the alphabet, so this cannot be read in two ways.
    const plain = text.includes('%') ? decodeURIComponent(text) : text;
    return allOrNull(plain.split(',').map((one) => decodeStrictBase64(one.trim())));
  } catch {
    return null;
  }
}
