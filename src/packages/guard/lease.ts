import type { Clock } from '../../common/runtime/clock.js';
import { millisecondsSince, type Moment } from '../../common/runtime/moment.js';

/** The time for which the guard knows every session that has ended. */
export class Lease {
  private from: Moment | null = null;

  constructor(
    private readonly clock: Clock,
    private readonly leaseMs: number,
  ) {}

  /** @param sentAt the request was sent then, whose answer had no more signals */
  renew(sentAt: Moment): void {
    this.from = sentAt;
  }

  /** Ends the lease: signals were missed. */
  drop(): void {
    this.from = null;
  }

  get isValid(): boolean {
    return this.from !== null && millisecondsSince(this.from, this.clock) < this.leaseMs;
  }

  /** True after the time is over, false before the first renewal. */
  get isExpired(): boolean {
    return this.from !== null && !this.isValid;
  }
}
