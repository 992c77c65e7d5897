/** The time, injected wherever the server decides by it or measures. */
export class Clock {
  /** Wall clock: Unix milliseconds, which may jump. */
  now(): number {
    return Date.now();
  }

  /** Monotonic clock: milliseconds from an arbitrary start, for durations and deadlines. */
  elapsed(): number {
    return performance.now();
  }
}
