import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';
import { ProviderError, type ExchangeRefusal } from './identity-provider.js';
import { upstreamErrorIn } from './upstream-error.js';

/** Answers that are no protocol answers at all, as openid-client calls them. */
const NO_PROTOCOL_ANSWER = [
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_TIMEOUT',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
];

/** Whatever ended an authorization, as the one error that providers throw. */
export function exchangeFailure(error: unknown): ProviderError {
  if (error instanceof ProviderError) {
    return error;
  }
  return new ProviderError(refusalOf(error), { cause: withoutAnswer(error) });
}

/**
 * The error without the answers of the upstream that libraries attach to theirs: claims and tokens
 * must not reach a log with it.
 */
export function withoutAnswer(error: unknown): Error {
  const upstream = upstreamErrorIn(error);
  if (upstream !== undefined) {
    return upstream;
  }
  if (!(error instanceof Error)) {
    return new Error('Something that is no error was thrown.');
  }
  const oauth = error instanceof ResponseBodyError ? oauthCode(error.error) : '';
  return new Error([error.name, error.message, codeOf(error), oauth].filter(Boolean).join(': '));
}

function refusalOf(error: unknown): ExchangeRefusal {
  if (upstreamErrorIn(error) !== undefined) {
    return 'upstream_error';
  }
  if (error instanceof AuthorizationResponseError) {
    return refusalByCode(error.error);
  }
  // RFC 6749, 5.2: of the token endpoint's errors only this one is about the person's code.
  if (error instanceof ResponseBodyError) {
    return error.error === 'invalid_grant' ? 'invalid_response' : 'upstream_error';
  }
  return NO_PROTOCOL_ANSWER.includes(codeOf(error)) ? 'upstream_error' : 'invalid_response';
}

/** RFC 6749, 4.1.2.1. */
function refusalByCode(code: string): ExchangeRefusal {
  if (code === 'access_denied') {
    return 'access_denied';
  }
  const isOutage = code === 'server_error' || code === 'temporarily_unavailable';
  return isOutage ? 'upstream_error' : 'invalid_response';
}

function codeOf(error: unknown): string {
  const hasCode = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return hasCode ? String(error.code) : '';
}

/** An error code of RFC 6749, and nothing that an upstream may have put in its place. */
function oauthCode(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : 'other';
}
