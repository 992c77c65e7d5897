import { exchangeFailure } from './exchange-failure.js';
import type { Recheck } from './identity-provider.js';
import { upstreamErrorIn } from './upstream-error.js';

/** An upstream that failed, or answered what cannot be trusted, has not said no. */
export function unknownBecause(error: unknown): Recheck {
  const upstream = upstreamErrorIn(error);
  if (upstream === undefined) {
    return { outcome: 'unknown', reason: exchangeFailure(error).refusal };
  }
  const { failure: reason, retryAfterMs } = upstream;
  return { outcome: 'unknown', reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}
