import type { Clock } from '../../../common/runtime/clock.js';
import { MAX_SKEW_SECONDS, MAX_TOKEN_SECONDS } from '../access.js';

/**
 * Tokens of an ended session are refused for so long after the signal; later ones have expired. Twice
 * the skew, because the clocks of this machine and of the issuer may differ to either side.
 */
const REMEMBERED_MS = (MAX_TOKEN_SECONDS + 2 * MAX_SKEW_SECONDS) * 1000;

/** Sessions that ended while tokens of them may still be valid. */
export class EndedSessions {
  /** Times of the monotonic clock, which no one can set back, in the order of the signals. */
  private readonly endedAt = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  add(sid: string): void {
    this.endedAt.delete(sid);
    this.endedAt.set(sid, this.clock.elapsed());
  }

  has(sid: string): boolean {
    return this.endedAt.has(sid);
  }

  get size(): number {
    return this.endedAt.size;
  }

  /** Forgets sessions whose last token has expired. */
  removeExpired(): void {
    const limit = this.clock.elapsed() - REMEMBERED_MS;
    for (const [sid, at] of this.endedAt) {
      if (at > limit) {
        break;
      }
      this.endedAt.delete(sid);
    }
  }
}
