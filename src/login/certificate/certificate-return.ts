import type { AuditLog } from '../../audit/audit-log.js';
import { AppError, ERRORS, invalidRequest } from '../../common/errors.js';
import type { MtlsSettings } from '../../config/mtls.config.js';
import { CERTIFICATES } from '../../policy/admission/admission.js';
import { allowedReturnTo } from '../../policy/flow/return-address.js';
import { isProofOf, PROOF_HASH, PROOF_HASH_MESSAGE } from '../login-proof.js';

/**
 * The address that a browser may be sent back to.
 *
 * @throws AppError `invalid-return-to`
 */
export function returnAddress(returnTo: unknown, { returnToAllowPrefixes }: MtlsSettings): URL {
  const url =
    typeof returnTo === 'string' ? allowedReturnTo(returnTo, returnToAllowPrefixes) : null;
  if (url === null) {
    throw new AppError('invalid-return-to');
  }
  return url;
}

/** @throws AppError `invalid-request` */
export function toProofHash(value: unknown): string | null {
  if (value === undefined) {
    return null;
  }
  if (typeof value !== 'string' || !PROOF_HASH.test(value)) {
    throw invalidRequest('proofHash', PROOF_HASH_MESSAGE);
  }
  return value.toLowerCase();
}

/**
 * A proof for a code that needs none is refused as well: the `proofHash` was lost on the way, so the
 * code is of another login than the one this client began.
 *
 * @throws AppError `invalid-proof`
 */
export function checkProof(proofHash: string | null, proof: string | null): void {
  const isRight = proofHash === null ? proof === null : isProofOf(proof ?? '', proofHash);
  if (!isRight) {
    throw new AppError('invalid-proof');
  }
}

/**
 * The return address with the refusal of this person as its `error`, which is audited.
 *
 * @throws what is no refusal of this person
 */
export function refusedReturn(url: URL, error: unknown, audit: AuditLog): string {
  if (!(error instanceof AppError) || ![401, 403, 409].includes(ERRORS[error.code].status)) {
    throw error;
  }
  audit.refuse(CERTIFICATES, error.code);
  url.searchParams.set('error', error.code.replaceAll('-', '_'));
  return url.href;
}
