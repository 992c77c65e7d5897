import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../common/runtime/clock.js';
import { isUnavailable } from '../../common/errors.js';
import type { AuditEvent, OperatorName } from '../../core/policy/audit-event.js';
import { AuditRepository } from '../storage/repositories/audit.repository.js';

const FLUSH_EVERY_MS = 60_000;
/** Rows a minute for each reason, which strangers can cause. */
const MAX_ADDRESSES = 20;

/**
 * Audit events as JSON lines and as rows. A change stores its row in its transaction and only
 * {@link log}s the line. Refused logins and calls are counted, with one row a minute per method,
 * reason and address, so that strangers cannot fill the table.
 */
@Injectable()
export class AuditService implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Audit');
  private refused = new Map<string, AuditEvent & { readonly count: number }>();
  private readonly addresses = new Set<string>();

  constructor(
    private readonly events: AuditRepository,
    private readonly clock: Clock,
  ) {}

  /** The row is stored already. */
  log(event: AuditEvent): void {
    this.logger.log({ msg: 'audit', ...event });
  }

  /** @throws AppError `unavailable` */
  async record(event: AuditEvent): Promise<void> {
    await this.events.add([event], new Date(this.clock.now()));
    this.log(event);
  }

  /**
   * @param reason a code of ours; never text from the caller
   * @param detail likewise one of a bounded number; null = none
   */
  refuse(provider: string, reason: string, detail: string | null = null): void {
    const event = { kind: 'login-refused', actor: 'user', accountId: null } as const;
    this.count({ ...event, provider, reason, ...(detail !== null && { detail }) });
  }

  /**
   * @param address as limits count it; beyond {@link MAX_ADDRESSES} a minute they count together
   * @param caller whose credentials were accepted; null = none
   */
  refuseCall(reason: string, address: string, caller: OperatorName | null): void {
    const actor = caller ?? 'user';
    const event = { kind: 'admin-refused', actor, accountId: null, reason } as const;
    const isNamed = this.addresses.has(address) || this.addresses.size < MAX_ADDRESSES;
    if (isNamed) {
      this.addresses.add(address);
    }
    this.count(isNamed ? { ...event, address } : event);
  }

  private count(event: AuditEvent): void {
    const key = JSON.stringify(event);
    const count = (this.refused.get(key)?.count ?? 0) + 1;
    this.refused.set(key, { ...event, count });
  }

  @Interval(FLUSH_EVERY_MS)
  async flush(): Promise<void> {
    const events = [...this.refused.values()];
    this.refused = new Map();
    this.addresses.clear();
    if (events.length === 0) {
      return;
    }
    events.forEach((event) => this.log(event));
    try {
      await this.events.add(events, new Date(this.clock.now()));
    } catch (error) {
      this.logger[isUnavailable(error) ? 'warn' : 'error']({
        msg: 'counts of refusals are in the log only',
        error: error instanceof Error ? error.message : undefined,
      });
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }
}
