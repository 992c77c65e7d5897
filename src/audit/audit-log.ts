import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/errors.js';
import type { AuditEvent } from '../policy/audit-event.js';
import { AuditRepository } from '../storage/repositories/audit.repository.js';

const FLUSH_EVERY_MS = 60_000;

/**
 * Audit events as JSON log lines and as rows. A change of an account stores its row in its own
 * transaction and only {@link log}s the line here. Refused logins need no account to cause: they are
 * counted and written once a minute, one row per method and reason, which bounds the table's growth.
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
  log(event: AuditEvent): void {
    this.logger.log({ msg: 'audit', ...event });
  }

  /**
   * Counts a login that was refused.
   *
   * @param provider a configured provider's id, `key_challenge` or `mtls`
   * @param reason a code of ours; never text from the caller
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
    events.forEach((event) => this.log(event));
    try {
      await this.events.add(events, new Date(this.clock.now()));
    } catch (error) {
      this.logger[isUnavailable(error) ? 'warn' : 'error']({
        msg: 'refused logins are in the log only',
        error: error instanceof Error ? error.message : undefined,
      });
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
