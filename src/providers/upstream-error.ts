export type UpstreamFailure =
  | 'aborted'
  | 'circuit_open'
  | 'insecure_address'
  | 'network_error'
  | 'rate_limited'
  | 'timeout'
  | 'too_large'
  | 'server_error'
  | 'unexpected_answer';

export interface UpstreamErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined;
}

/** An upstream could not be asked, or did not answer what it should. Never says what it answered. */
export class UpstreamError extends Error {
  override readonly name = 'UpstreamError';
  readonly retryAfterMs: number | undefined;

  constructor(
    readonly failure: UpstreamFailure,
    options: UpstreamErrorOptions = {},
  ) {
    super(`The upstream could not be asked: ${failure}`, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The UpstreamError among an error and its causes; undefined when there is none. */
export function upstreamErrorIn(error: unknown): UpstreamError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof UpstreamError) {
      return current;
    }
  }
  return undefined;
}
