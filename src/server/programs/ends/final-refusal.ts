import type { AppError, ErrorCode } from '../../../common/errors.js';

/** Refusals for good. The person, the provider or the operator may end any other. */
const FINAL: readonly ErrorCode[] = ['not-eligible', 'account-disabled', 'token-revoked'];

/** Returns true if a grant ends with the refusal of its account. An answer that is too old passes. */
export function isFinal({ code, extras }: AppError): boolean {
  return FINAL.includes(code) && extras.isOutdated !== true;
}
