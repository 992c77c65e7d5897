import { AuthorizationResponseError, ResponseBodyError } from 'openid-client';
import { upstreamErrorIn } from './http/upstream-http.js';
import { ProviderError, type ExchangeRefusal, type Recheck } from './identity-provider.js';

/** Codes of openid-client for responses that do not follow the protocol. */
const NO_PROTOCOL_ANSWER = [
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_TIMEOUT',
  'OAUTH_WWW_AUTHENTICATE_CHALLENGE',
];

/** Any error that ended an authorization, as the one error that providers throw. */
export function exchangeFailure(error: unknown): ProviderError {
  if (error instanceof ProviderError) {
    return error;
  }
  return new ProviderError(refusalOf(error), { cause: withoutAnswer(error) });
}

/** The re-check after a failed or invalid response, which is no refusal. */
export function unknownBecause(error: unknown): Recheck {
  const upstream = upstreamErrorIn(error);
  if (upstream === undefined) {
    return { outcome: 'unknown', reason: exchangeFailure(error).refusal };
  }
  const { failure: reason, retryAfterMs } = upstream;
  return { outcome: 'unknown', reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Without the responses that libraries attach: claims and tokens must not be logged. */
export function withoutAnswer(error: unknown): Error {
  const upstream = upstreamErrorIn(error);
  if (upstream !== undefined) {
    return upstream;
  }
  if (!(error instanceof Error)) {
    return new Error('Something that is no error was thrown.');
  }
  // An error code of RFC 6749; any other text of the upstream is not repeated.
  const oauthCode = error instanceof ResponseBodyError ? error.error : '';
  const oauth = /^[a-z_]{0,40}$/.test(oauthCode) ? oauthCode : 'other';
  return new Error([error.name, error.message, codeOf(error), oauth].filter(Boolean).join(': '));
}

function refusalOf(error: unknown): ExchangeRefusal {
  if (upstreamErrorIn(error) !== undefined) {
    return 'upstream_error';
  }
  // RFC 6749, 4.1.2.1.
  if (error instanceof AuthorizationResponseError) {
    const isOutage = ['server_error', 'temporarily_unavailable'].includes(error.error);
    const refusal = isOutage ? 'upstream_error' : 'invalid_response';
    return error.error === 'access_denied' ? 'access_denied' : refusal;
  }
  // RFC 6749, 5.2: the only error of the token endpoint that is about the authorization code.
  if (error instanceof ResponseBodyError) {
    return error.error === 'invalid_grant' ? 'invalid_response' : 'upstream_error';
  }
  return NO_PROTOCOL_ANSWER.includes(codeOf(error)) ? 'upstream_error' : 'invalid_response';
}

function codeOf(error: unknown): string {
  const hasCode = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return hasCode ? String(error.code) : '';
}
