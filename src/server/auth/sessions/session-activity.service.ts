import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { isUnavailable } from '../../../common/errors.js';
import { SessionRepository } from '../../storage/repositories/session.repository.js';

/** `lastSeenAt` is right to five minutes (contract, Sessions). */
const FLUSH_EVERY_MS = 120_000;
const BATCH = 1000;
const MAX_NOTED = 100_000;

/** Records the last use of sessions. Requests note it in memory; it is written in batches. */
@Injectable()
export class SessionActivityService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(SessionActivityService.name);
  private seen = new Map<string, number>();

  constructor(private readonly sessions: SessionRepository) {}

  /** @param now Unix milliseconds */
  note(sessionId: string, now: number): void {
    if (this.seen.size < MAX_NOTED || this.seen.has(sessionId)) {
      this.seen.set(sessionId, now);
    }
  }

  /** Writes the noted times. A failed write is repeated at the next interval. */
  @Interval(FLUSH_EVERY_MS)
  async flush(): Promise<void> {
    // Ordered by id: two replicas that lock in different orders would cause a deadlock.
    const noted = [...this.seen].sort(([one], [other]) => (one < other ? -1 : 1));
    this.seen = new Map();
    for (let start = 0; start < noted.length; start += BATCH) {
      try {
        await this.sessions.touch(noted.slice(start, start + BATCH));
      } catch (error) {
        if (isUnavailable(error)) {
          noted.slice(start).forEach(([id, at]) => this.seen.has(id) || this.note(id, at));
        } else {
          this.logger.error(error);
        }
        return;
      }
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
