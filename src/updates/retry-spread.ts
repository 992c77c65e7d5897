/** Handshakes that a process on a small machine completes in a second beside its requests. */
const RETURNING_PER_SECOND = 500;
/** With the jitter that clients add to it, all are back within half a minute. */
const LONGEST_SECONDS = 15;

/**
 * When the clients that are refused together come back. The time grows with how many of them are
 * still expected, and is drawn at random from the later half of the range: they arrive evenly, at
 * about the rate at which they can be served.
 */
export class RetrySpread {
  private expected = 0;
  private countedAtMs = 0;

  /**
   * Counts one more client that is refused.
   *
   * @param nowMs of a clock that never goes back
   * @param random from 0 to 1
   * @returns whole seconds, at least 1
   */
  next(nowMs: number, random: number): number {
    const returned = ((nowMs - this.countedAtMs) / 1000) * RETURNING_PER_SECOND;
    this.expected = Math.max(this.expected - returned, 0) + 1;
    this.countedAtMs = nowMs;
    const longest = Math.min(1 + this.expected / RETURNING_PER_SECOND, LONGEST_SECONDS);
    return Math.ceil(longest * (0.5 + random / 2));
  }
}
