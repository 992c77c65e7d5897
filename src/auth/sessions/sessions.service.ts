import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AuditLog } from '../../audit/audit-log.js';
import { Clock } from '../../common/clock.js';
import { isUnavailable } from '../../common/errors.js';
import { SessionRepository } from '../../storage/repositories/session.repository.js';
import { IdentityEvents } from '../identity-events.js';
import type { Access } from '../auth.service.js';
import type { SessionDto } from './sessions.dto.js';

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** `lastSeenAt` is right to five minutes (contract, Sessions). */
const FLUSH_EVERY_MS = 120_000;
const BATCH = 1000;
const MAX_NOTED = 100_000;

/** Lists and ends the sessions of an account: stored first, then announced to every replica. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly events: IdentityEvents,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Newest first. */
  async list({ accountId, sessionId }: Access): Promise<SessionDto[]> {
    const sessions = await this.sessions.list(accountId, new Date(this.clock.now()));
    return sessions.map(({ clientName, clientPlatform, ...session }) => ({
      ...session,
      client: { name: clientName, platform: clientPlatform },
      current: session.id === sessionId,
    }));
  }

  /** Ends one session of the account, known or not. */
  async end(accountId: string, sessionId: string): Promise<void> {
    if (!SESSION_ID.test(sessionId)) {
      return;
    }
    const now = new Date(this.clock.now());
    const isEnded = await this.sessions.end(accountId, sessionId, { actor: 'user' }, now);
    this.events.announceAccessChange({ accountId, sessionId, closes: 'token-revoked' });
    if (isEnded) {
      this.audit.log({ kind: 'token-revoked', actor: 'user', accountId, sessionId });
    }
  }

  async endAll(accountId: string): Promise<void> {
    await this.sessions.endAll(accountId, new Date(this.clock.now()));
    this.events.announceAccessChange({ accountId, closes: 'token-revoked' });
    this.audit.log({ kind: 'all-tokens-revoked', actor: 'user', accountId });
  }
}

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
