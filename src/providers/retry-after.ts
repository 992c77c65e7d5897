const LONGEST_MS = 60 * 60 * 1000;

/**
 * How long a `Retry-After` in seconds asks to wait (RFC 9110, 10.2.3), at most an hour; undefined
 * without one.
 */
export function retryAfterMs(response: Response): number | undefined {
  const header = response.headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(header) ? Math.min(Number(header) * 1000, LONGEST_MS) : undefined;
}
