import type { AppError, ErrorBody } from '../common/errors.js';

/** A refusal on a live connection, where there is no header to say when to come again. */
export interface ConnectionRefusal extends ErrorBody {
  readonly retryAfterSeconds?: number;
}

/** The error shape as `closing` and `connect_error` carry it. */
export function bodyOnConnection(refusal: AppError, requestId?: string): ConnectionRefusal {
  const { retryAfterSeconds } = refusal;
  return {
    ...refusal.toBody(requestId),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** What `connect_error` brings: `message` is the code, `data` the error shape (contract, Updates). */
export function connectError(
  refusal: AppError,
  requestId: string,
): Error & { readonly data: ConnectionRefusal } {
  return Object.assign(new Error(refusal.code), { data: bodyOnConnection(refusal, requestId) });
}
