import { ERRORS, type AppError, type ErrorCode } from '../../common/errors.js';
import type { FormattedRefusal } from '../http/request-rules.js';

/** Where OAuth's errors differ from `invalid_request` (RFC 6749, 5.2; RFC 8707, 2). */
const OAUTH_ERRORS: Partial<Record<ErrorCode, string>> = {
  'invalid-client': 'invalid_client',
  'invalid-target': 'invalid_target',
  'unsupported-grant-type': 'unsupported_grant_type',
  'invalid-scope': 'invalid_scope',
  'invalid-grant': 'invalid_grant',
  'unsupported-response-type': 'unsupported_response_type',
  'interaction-required': 'interaction_required',
  'unsupported-token-type': 'unsupported_token_type',
  'insufficient-scope': 'insufficient_scope',
  'rate-limited': 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  internal: 'server_error',
};

/** Statuses that clients of OAuth know; any other refusal is 400 (RFC 6749, 5.2). */
const STATUSES: readonly ErrorCode[] = [
  'invalid-client',
  'rate-limited',
  'unavailable',
  'internal',
  'insufficient-scope',
  'payload-too-large',
  'unsupported-media-type',
];

/** Challenges accounts that a rule refuses, too (RFC 6750, 3): proxies pass the answer on. */
export function proxyRefusal(refusal: AppError, requestId: string): FormattedRefusal {
  const { status: statusCode } = ERRORS[refusal.code];
  return {
    status: statusCode,
    headers: [401, 403].includes(statusCode) ? { 'www-authenticate': 'Bearer' } : {},
    body: JSON.stringify({ ...refusal.toBody(requestId), statusCode }),
  };
}

export function oauthErrorOf(code: ErrorCode): string {
  return OAUTH_ERRORS[code] ?? 'invalid_request';
}

/** Adds OAuth's `error` to the code and the message of every refusal. */
export function oauthRefusal(refusal: AppError, requestId: string): FormattedRefusal {
  const { code } = refusal;
  const statusCode = STATUSES.includes(code) ? ERRORS[code].status : 400;
  const error = oauthErrorOf(code);
  return {
    status: statusCode,
    headers: code === 'invalid-client' ? { 'www-authenticate': 'Basic' } : {},
    body: JSON.stringify({ ...refusal.toBody(requestId), statusCode, error }),
  };
}
