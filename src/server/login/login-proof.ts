import { createHash, timingSafeEqual } from 'node:crypto';
import { Matches } from 'class-validator';

/** SHA-256 in hex, of a secret that stays with the client that starts a login. */
export const PROOF_HASH = /^[0-9a-f]{64}$/i;

export const PROOF_HASH_MESSAGE = 'proofHash must be a SHA-256 in hex';

export const IsProofHash = (): PropertyDecorator =>
  Matches(PROOF_HASH, { message: PROOF_HASH_MESSAGE });

export function isProofOf(proof: string, proofHash: string): boolean {
  const hash = createHash('sha256').update(proof).digest();
  return timingSafeEqual(hash, Buffer.from(proofHash, 'hex'));
}
