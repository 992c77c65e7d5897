import { timingSafeEqual } from 'node:crypto';
import { Matches } from 'class-validator';
import { sha256 } from '../../common/sha256.js';

/** SHA-256 in hex, of a secret that stays with the client that starts a login. */
export const PROOF_HASH = /^[0-9a-f]{64}$/i;

export const PROOF_HASH_MESSAGE = 'proofHash must be a SHA-256 in hex';

export const IsProofHash = (): PropertyDecorator =>
  Matches(PROOF_HASH, { message: PROOF_HASH_MESSAGE });

export function isProofOf(proof: string, proofHash: string): boolean {
  const hash = sha256(proof);
  return timingSafeEqual(hash, Buffer.from(proofHash, 'hex'));
}
