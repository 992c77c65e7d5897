import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** Chance, injected wherever the server draws. Every value comes from a cryptographic generator. */
export class Random {
  /** A number from 0 to 1 (exclusive), to spread work in time. */
  fraction(): number {
    return randomInt(2 ** 32) / 2 ** 32;
  }

  /** An integer from 0 to `bound` (exclusive), without bias. */
  below(bound: number): number {
    return randomInt(bound);
  }

  bytes(count: number): Buffer {
    return randomBytes(count);
  }

  uuid(): string {
    return randomUUID();
  }

  /** 32 random bytes in base64url, which is also what PKCE allows (RFC 7636, 4.1). */
  secret(): string {
    return this.bytes(32).toString('base64url');
  }
}
