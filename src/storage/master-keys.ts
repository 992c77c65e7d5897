import { createHash, hkdfSync } from 'node:crypto';

/** A key derived from one master secret for one purpose. */
export interface DerivedKey {
  /** Names the master secret it came from, without telling anything about it. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

/**
 * Derives keys from the master secrets (HKDF-SHA256, RFC 5869): the current one makes, the
 * previous ones still open and verify.
 */
export class MasterKeys {
  constructor(
    private readonly current: string,
    private readonly previous: readonly string[],
  ) {}

  /** The key that makes new tokens and seals. 32 bytes. */
  currentKey(purpose: string): DerivedKey {
    return derive(this.current, purpose);
  }

  /** Every key that may still be met, the current one first. */
  allKeys(purpose: string): DerivedKey[] {
    return [this.current, ...this.previous].map((secret) => derive(secret, purpose));
  }
}

function derive(secret: string, purpose: string): DerivedKey {
  const expand = (info: string, length: number): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', secret, 'gatehouse', info, length));
  const id = createHash('sha256').update(expand('key id', 32)).digest('hex').slice(0, 8);
  return { id, bytes: expand(purpose, 32) };
}
