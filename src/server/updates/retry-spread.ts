/** Handshakes that a process on a small machine completes in a second, in addition to its requests. */
const RETURNING_PER_SECOND = 1000;
/** With the jitter that clients add, all clients reconnect within half a minute. */
const LONGEST_SECONDS = 15;

/**
 * Spreads the reconnects of refused clients. The delay grows with their number, and is drawn from
 * the later half of the range: they arrive at about the rate at which they can be served.
 */
export class RetrySpread {
  private expected = 0;
  private countedAtMs = 0;

  /**
   * @param nowMs of a monotonic clock
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
