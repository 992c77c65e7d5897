import { randomBytes } from 'node:crypto';

/** 32 random bytes in base64url, which is also what PKCE allows (RFC 7636, 4.1). */
export function randomSecret(): string {
  return randomBytes(32).toString('base64url');
}
