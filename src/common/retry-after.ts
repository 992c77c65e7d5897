/** A date begins with its day, in each of its three forms (RFC 9110, 5.6.7). */
const DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** Returns the milliseconds of a `Retry-After` header, in either form (RFC 9110, 10.2.3). */
export function readRetryAfter(
  header: string | readonly string[] | null | undefined,
  now: number,
): number | undefined {
  const text = typeof header === 'string' ? header.trim() : '';
  if (/^\d{1,9}$/.test(text)) {
    return Number(text) * 1000;
  }
  // The form of C's `asctime` has no zone, and is in UTC.
  const date = text.endsWith(' GMT') ? text : `${text} GMT`;
  const at = DATE.test(text) ? Date.parse(date) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
