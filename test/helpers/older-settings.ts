import { randomBytes } from 'node:crypto';
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { deriveContentKey } from '../../src/packages/client/crypto/account-content.js';

/** Seals settings in version 1, as apps did before settings had revisions. */
export function sealOlderSettings(secret: Uint8Array, accountId: string, value: unknown): string {
  const nonce = randomBytes(24);
  const data = Buffer.from(`settings\n${accountId}`);
  const cipher = xchacha20poly1305(deriveContentKey(secret), nonce, data);
  const sealed = cipher.encrypt(Buffer.from(JSON.stringify(value)));
  return `1.${Buffer.concat([nonce, sealed]).toString('base64url')}`;
}
