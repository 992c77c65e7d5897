import { AppError, ERRORS, type ErrorCode } from '../../common/errors.js';
import type { FormattedRefusal } from '../../common/http/request-rules.js';
import type { SetError } from '../../providers/signals/security-event-tokens.js';

/** A refusal with the error of RFC 8935, 2.4. */
export class SetRefusal extends AppError {
  constructor(readonly error: SetError) {
    super(error.failure === 'authentication_failed' ? 'invalid-token' : 'invalid-request');
  }
}

const FAILURES: Partial<Record<ErrorCode, string>> = {
  'not-found': 'access_denied',
  'rate-limited': 'access_denied',
};

/** Adds the members of RFC 8935, 2.3 to those of every refusal. */
export function setRefusal(refusal: AppError, requestId: string): FormattedRefusal {
  const isSet = refusal instanceof SetRefusal;
  const err = isSet ? refusal.error.failure : (FAILURES[refusal.code] ?? 'invalid_request');
  const description = isSet ? refusal.error.message : refusal.message;
  const { status } = ERRORS[refusal.code];
  return {
    status,
    headers: {
      'content-language': 'en',
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    },
    body: JSON.stringify({ ...refusal.toBody(requestId), err, description }),
  };
}
