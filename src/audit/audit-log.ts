import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../common/clock.js';
import { AppError } from '../common/errors.js';
import type { AuditEvent } from '../policy/audit-event.js';
import { AuditRepository } from '../storage/audit.repository.js';

const FLUSH_EVERY_MS = 60_000;

/**
 * Tells what happened, as a JSON log line and as a row. Changes of an account store their row in the
 * statement that makes them, and only {@link tell} the line here. A refused login changes nothing
 * and anybody can cause one: refusals are counted and written once a minute, one row per method and
 * reason, so that a stranger cannot fill the table. A count that cannot be stored is in the log.
 */
@Injectable()
export class AuditLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Audit');
  private refused = new Map<string, AuditEvent & { readonly count: number }>();

  constructor(
    private readonly events: AuditRepository,
    private readonly clock: Clock,
  ) {}

  /** Writes the log line of an event whose row is stored already. */
  tell(event: AuditEvent): void {
    this.logger.log({ msg: 'audit', ...event });
  }

  /**
   * Counts a login that was refused.
   *
   * @param provider a configured provider's id, `key_challenge` or `mtls`
   * @param reason a code of ours; neither is ever a caller's word
   */
  refuse(provider: string, reason: string): void {
    const key = `${provider} ${reason}`;
    const count = (this.refused.get(key)?.count ?? 0) + 1;
    const kind = 'login-refused';
    this.refused.set(key, { kind, actor: 'user', accountId: null, provider, reason, count });
  }

  @Interval(FLUSH_EVERY_MS)
  async flush(): Promise<void> {
    const events = [...this.refused.values()];
    this.refused = new Map();
    if (events.length === 0) {
      return;
    }
    events.forEach((event) => this.tell(event));
    try {
      await this.events.add(events, new Date(this.clock.now()));
    } catch (error) {
      const isAway = error instanceof AppError && error.code === 'unavailable';
      this.logger[isAway ? 'warn' : 'error']({
        msg: 'refused logins are in the log only',
        error: error instanceof Error ? error.message : undefined,
      });
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
