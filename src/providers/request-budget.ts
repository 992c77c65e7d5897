export interface RequestBudgetLimits {
  readonly perSecond: number;
  /** Requests that may go out at once after a pause. */
  readonly burst: number;
  /** The longest a request may stand in line. */
  readonly longestWaitMs: number;
}

/**
 * Spreads requests so that an upstream never sees more than its share (a token bucket). Requests
 * beyond it stand in line; those that would wait too long are turned away. Times are Unix
 * milliseconds.
 */
export class RequestBudget {
  /** When the next request may go out, were there no burst. */
  private nextAt = 0;

  constructor(private readonly limits: RequestBudgetLimits) {}

  /** Milliseconds to wait before sending, with the place in line taken; null = the line is too long. */
  reserve(now: number): number | null {
    const spacingMs = 1000 / this.limits.perSecond;
    const saved = now - (this.limits.burst - 1) * spacingMs;
    // Nobody was ever given a later place: the clock was set back.
    const isCredible = this.nextAt - now <= this.limits.longestWaitMs + spacingMs;
    const at = isCredible ? Math.max(this.nextAt, saved) : now;
    if (at - now > this.limits.longestWaitMs) {
      return null;
    }
    this.nextAt = at + spacingMs;
    return Math.max(0, at - now);
  }
}
