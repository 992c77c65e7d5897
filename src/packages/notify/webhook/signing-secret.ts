import { base64, base64nopad } from '@scure/base';

/** Bytes of a key that can be guessed by trying are no key (Standard Webhooks: 24 to 64). */
export const MIN_SECRET_BYTES = 16;

const STANDARD_SECRET = /^whsec_([A-Za-z0-9+/]*)(={0,2})$/;

/**
 * `whsec_<base64>` stands for the bytes in it, any other secret for its own UTF-8.
 *
 * @returns null for a `whsec_` secret that is not base64, or of less than 16 bytes
 */
export function signingKey(secret: string): Uint8Array | null {
  const [, digits, padding] = STANDARD_SECRET.exec(secret) ?? [];
  if (!secret.startsWith('whsec_')) {
    return new TextEncoder().encode(secret);
  }
  try {
    const coder = padding === '' ? base64nopad : base64;
    const key = digits === undefined ? null : coder.decode(`${digits}${padding ?? ''}`);
    return key !== null && key.length >= MIN_SECRET_BYTES ? key : null;
  } catch {
    return null;
  }
}

/** Returns true if a person may set the secret: shorter ones that are in use already go on signing. */
export function isLongEnough(secret: string): boolean {
  return (signingKey(secret)?.length ?? 0) >= MIN_SECRET_BYTES;
}
