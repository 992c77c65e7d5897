import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AppError } from '../../common/errors.js';
import { SessionRepository } from '../../storage/session.repository.js';

/** `lastSeenAt` is right to five minutes (contract, Sessions). */
const FLUSH_EVERY_MS = 120_000;
const BATCH = 1000;
const MAX_NOTED = 100_000;

/** When sessions were last used. Requests only note it in memory; it is written in batches. */
@Injectable()
export class SessionActivity implements BeforeApplicationShutdown {
  private readonly logger = new Logger(SessionActivity.name);
  private seen = new Map<string, number>();

  constructor(private readonly sessions: SessionRepository) {}

  /** @param now Unix milliseconds */
  note(sessionId: string, now: number): void {
    if (this.seen.size < MAX_NOTED || this.seen.has(sessionId)) {
      this.seen.set(sessionId, now);
    }
  }

  /** Writes what was noted. What cannot be written now is written the next time. */
  @Interval(FLUSH_EVERY_MS)
  async flush(): Promise<void> {
    // In the order of their ids: two replicas that lock in two orders would wait for each other.
    const noted = [...this.seen].sort(([one], [other]) => (one < other ? -1 : 1));
    this.seen = new Map();
    for (let start = 0; start < noted.length; start += BATCH) {
      try {
        await this.sessions.touch(noted.slice(start, start + BATCH));
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'unavailable')) {
          this.logger.error(error);
          return;
        }
        noted.slice(start).forEach(([id, at]) => this.seen.has(id) || this.note(id, at));
        return;
      }
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
