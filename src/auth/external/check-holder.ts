import { AppError } from '../../common/errors.js';
import { isProofOf } from '../login-proof.js';
import type { Holder } from './external-contents.js';

/**
 * Whoever intercepts the return address has the pending, and neither the proof nor the key.
 *
 * @param publicKey the key that was proven; null where the proof alone has to do
 * @throws AppError `invalid-pending`, `invalid-proof`
 */
export function checkHolder(
  holder: Holder,
  proof: string | undefined,
  publicKey: Buffer | null,
): void {
  if (holder.accountId !== null) {
    throw new AppError('invalid-pending');
  }
  const isKeyRight =
    holder.publicKey === null || holder.publicKey === publicKey?.toString('base64url');
  const isProofRight = holder.proofHash === null || isProofOf(proof ?? '', holder.proofHash);
  const hasProof = holder.proofHash !== null || publicKey !== null;
  if (!isKeyRight || !isProofRight || !hasProof) {
    throw new AppError('invalid-proof');
  }
}
