import {
  AuthorizationResponseError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import {
  innermost,
  UPSTREAM_FAILURES,
  UpstreamError,
  upstreamErrorIn,
} from './http/upstream-http.js';
import {
  ProviderError,
  type DiagnosisStep,
  type ExchangeRefusal,
  type Recheck,
} from './identity-provider.js';

/** Codes of openid-client for responses that do not follow the protocol. */
const NO_PROTOCOL_ANSWER = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON'];

/** Errors about this server (RFC 6749, 5.2). Keycloak answers the second to a wrong secret. */
const CLIENT_REFUSALS = ['invalid_client', 'unauthorized_client'];

/** Codes of RFC 6749 (4.1.2.1, 5.2), OpenID Connect Core 1.0 (3.1.2.6) and GitHub. */
const ERROR_CODES: readonly string[] = (
  'access_denied invalid_client invalid_grant invalid_request invalid_scope server_error ' +
  'temporarily_unavailable unauthorized_client unsupported_grant_type unsupported_response_type ' +
  'account_selection_required consent_required interaction_required login_required ' +
  'request_not_supported application_suspended bad_refresh_token bad_verification_code ' +
  'incorrect_client_credentials redirect_uri_mismatch'
).split(' ');

/** Errors whose messages never quote an answer. */
const PLAIN_CAUSES = ['OperationProcessingError', 'UnsupportedOperationError'];

/** No request succeeds before the operator acts, so requests for other identities pause. */
export const REFUSED_CLIENT_RETRY_MS = 60_000;

export function exchangeFailure(error: unknown): ProviderError {
  if (error instanceof ProviderError) {
    return error;
  }
  return new ProviderError(refusalOf(error), {
    cause: withoutAnswer(error),
    detail: detailOf(error),
  });
}

/** Returns a code of a provider, which browsers pass on, as one of a known list. */
export function knownErrorCode(code: string): string {
  return ERROR_CODES.includes(code) ? code : 'other';
}

export function claimDetail(claim: string): string {
  return /^\w{1,20}$/.test(claim) ? `claim_${claim}` : 'claim_other';
}

/** Returns the failure, the error code of the provider, the claim, or the code of a library. */
function detailOf(error: unknown): string | null {
  const upstream = upstreamFailureIn(error);
  if (upstream !== undefined) {
    return upstream.failure;
  }
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    return knownErrorCode(error.error);
  }
  // jose and oauth4webapi name the claim that they refused in an error of their own.
  const claim = innermost(error, 'claim');
  return claim === null ? codeOf(error) || null : claimDetail(claim);
}

/** A failed or invalid response is not a refusal. */
export function unknownBecause(error: unknown): Recheck {
  const upstream = upstreamFailureIn(error);
  if (upstream === undefined) {
    const { refusal: reason, detail } = exchangeFailure(error);
    return { outcome: 'unknown', reason, ...(detail !== null && { detail }) };
  }
  const { failure: reason, retryAfterMs, detail } = upstream;
  return {
    outcome: 'unknown',
    reason,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(detail !== undefined && { detail }),
  };
}

export function failedStep(step: DiagnosisStep['step'], error: unknown): DiagnosisStep {
  const upstream = upstreamFailureIn(error);
  const detail = upstream?.detail === undefined ? '' : ` (${upstream.detail})`;
  const words =
    upstream === undefined ? withoutAnswer(error).message : UPSTREAM_FAILURES[upstream.failure];
  return {
    step,
    severity: 'error',
    cause: upstream?.failure ?? null,
    message: `${words}${detail}`,
  };
}

/** Removes the responses that libraries attach, because claims and tokens must not be logged. */
export function withoutAnswer(error: unknown): Error {
  const upstream = upstreamFailureIn(error);
  if (upstream !== undefined) {
    return upstream;
  }
  if (!(error instanceof Error)) {
    return new Error('Something that is no error was thrown.');
  }
  const { cause } = error;
  const inner = cause instanceof Error && PLAIN_CAUSES.includes(cause.name) ? cause.message : '';
  return new Error(
    [error.name, error.message, inner, codeOf(error), oauthCodeOf(error)]
      .filter(Boolean)
      .join(': '),
  );
}

/** @returns undefined where the upstream answered as the protocol says */
export function upstreamFailureIn(error: unknown): UpstreamError | undefined {
  const known = upstreamErrorIn(error);
  if (known !== undefined || !(error instanceof Error)) {
    return known;
  }
  const detail = oauthCodeOf(error) || codeOf(error);
  if (isClientRefusal(error)) {
    return new UpstreamError('invalid_client', { detail, retryAfterMs: REFUSED_CLIENT_RETRY_MS });
  }
  // RFC 6749, 4.1.2.1.
  if (error instanceof AuthorizationResponseError) {
    const isOutage = ['server_error', 'temporarily_unavailable'].includes(error.error);
    return isOutage ? new UpstreamError('server_error', { detail: error.error }) : undefined;
  }
  if (codeOf(error) === 'OAUTH_TIMEOUT') {
    return new UpstreamError('timeout', { detail });
  }
  // RFC 6749, 5.2: the only error of the token endpoint that is about the code or the refresh token.
  const isOfToken = error instanceof ResponseBodyError && error.error !== 'invalid_grant';
  const isOther =
    error instanceof WWWAuthenticateChallengeError || NO_PROTOCOL_ANSWER.includes(codeOf(error));
  return isOfToken || isOther ? new UpstreamError('unexpected_answer', { detail }) : undefined;
}

/** Clients authenticate to the token endpoint by Basic; access tokens are Bearer tokens. */
export function isClientRefusal(error: unknown): boolean {
  return error instanceof WWWAuthenticateChallengeError
    ? error.cause.some(({ scheme }) => scheme.toLowerCase() === 'basic')
    : error instanceof ResponseBodyError && CLIENT_REFUSALS.includes(error.error);
}

function refusalOf(error: unknown): ExchangeRefusal {
  if (upstreamFailureIn(error) !== undefined) {
    return 'upstream_error';
  }
  return error instanceof AuthorizationResponseError && error.error === 'access_denied'
    ? 'access_denied'
    : 'invalid_response';
}

/** Drops any text that has not the form of a code. */
function oauthCodeOf(error: Error): string {
  const isOfProvider =
    error instanceof ResponseBodyError || error instanceof AuthorizationResponseError;
  const code = isOfProvider ? error.error : '';
  return /^\w{0,40}$/.test(code) ? code : 'other';
}

function codeOf(error: unknown): string {
  const hasCode = error instanceof Error && 'code' in error && typeof error.code === 'string';
  return hasCode ? String(error.code) : '';
}
