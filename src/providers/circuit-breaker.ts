export interface CircuitBreakerLimits {
  /** Failures in a row after which nothing is asked any more. */
  readonly failuresToOpen: number;
  /** How long nothing is asked; then one request finds out whether the upstream is back. */
  readonly openMs: number;
}

/**
 * Spares an upstream that fails, and those who would wait for it. State of one process: it protects,
 * it decides nothing. Times are Unix milliseconds.
 */
export class CircuitBreaker {
  private failures = 0;
  private openUntil = 0;

  constructor(private readonly limits: CircuitBreakerLimits) {}

  /** Milliseconds to wait until the upstream may be asked; 0 = ask now, and tell the outcome. */
  waitMs(now: number): number {
    if (this.failures < this.limits.failuresToOpen) {
      return 0;
    }
    const leftMs = this.openUntil - now;
    // More than the whole time can only be left when the clock was set back.
    if (leftMs > 0 && leftMs <= this.limits.openMs) {
      return leftMs;
    }
    // One may try; the others keep waiting until its outcome is known.
    this.openUntil = now + this.limits.openMs;
    return 0;
  }

  succeeded(): void {
    this.failures = 0;
  }

  failed(now: number): void {
    this.failures += 1;
    this.openUntil = now + this.limits.openMs;
  }
}
