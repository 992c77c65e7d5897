import { Injectable } from '@nestjs/common';

/** A client that repeats each empty answer at once would keep a server busy whose calls do not wait at all. */
const LATE_WAIT_MS = 1000;

/** Calls that wait for news are answered when the drain begins, so that none outlasts the grace period. */
@Injectable()
export class DrainEvents {
  private readonly controller = new AbortController();

  /** Aborts once, when the drain begins. */
  readonly signal = this.controller.signal;

  begin(): void {
    this.controller.abort();
  }

  /** Limits the wait of a call that begins now, in milliseconds. */
  limit(ms: number): number {
    return this.signal.aborted ? Math.min(ms, LATE_WAIT_MS) : ms;
  }
}
