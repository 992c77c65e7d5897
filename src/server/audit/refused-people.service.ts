import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../common/runtime/clock.js';
import type { AuditEvent } from '../../core/policy/audit-event.js';
import type { EligibilityFacts } from '../../core/policy/eligibility/eligibility.js';
import { AuditRepository } from '../storage/repositories/audit.repository.js';
import { AuditService } from './audit.service.js';

const LOOK_EVERY_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Rows an hour at most: anyone may have an account at a public provider, or many. */
const MAX_PEOPLE = 1000;
const MAX_CHARACTERS = 320;

export type RefusalKind = 'login-refused' | 'admin-login-refused';

export interface RefusedPerson {
  /** A configured provider's id, or `mtls`. */
  readonly provider: string;
  /** null = the person is not known: the refusal is only counted. */
  readonly subject: string | null;
  readonly facts: Pick<EligibilityFacts, 'login' | 'email' | 'emailVerified'>;
  /** null = not known: a job decided, or a directory in the middle of the login. */
  readonly address: string | null;
  /** An eligibility reason or an error code. */
  readonly reason: string;
}

interface Refusals {
  readonly event: AuditEvent;
  /** Refusals that no row counts yet. */
  readonly count: number;
  /** On the monotonic clock. */
  readonly writtenAt: number;
}

/**
 * Lets an operator answer why a person cannot sign in. The first refusal is stored at once, those of
 * the hour after it as one row. The log has no personal data: only rows are deleted.
 */
@Injectable()
export class RefusedPeopleService implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Audit');
  private readonly people = new Map<string, Refusals>();

  constructor(
    private readonly events: AuditRepository,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /** Never rejects: a refusal stands where its row cannot be stored. */
  async add(person: RefusedPerson, kind: RefusalKind): Promise<void> {
    const { provider, subject, reason } = person;
    if (subject === null) {
      this.audit.refuse(provider, reason);
      return;
    }
    const key = JSON.stringify([kind, provider, subject, reason]);
    const event = eventOf(person, subject, kind);
    const known = this.people.get(key);
    const now = this.clock.elapsed();
    if (known !== undefined && now - known.writtenAt < HOUR_MS) {
      this.people.set(key, { ...known, event, count: known.count + 1 });
    } else if (known !== undefined || this.people.size < MAX_PEOPLE) {
      this.people.set(key, { event, count: 0, writtenAt: now });
      await this.store([{ ...event, count: (known?.count ?? 0) + 1 }]);
    } else {
      this.audit.refuse(provider, reason);
    }
  }

  @Interval(LOOK_EVERY_MS)
  async flush(): Promise<void> {
    const now = this.clock.elapsed();
    const due = [...this.people].filter(([, { writtenAt }]) => now - writtenAt >= HOUR_MS);
    due.forEach(([key, { count, event }]) =>
      count === 0
        ? this.people.delete(key)
        : this.people.set(key, { event, count: 0, writtenAt: now }),
    );
    await this.store(uncounted(due.map(([, refusals]) => refusals)));
  }

  async beforeApplicationShutdown(): Promise<void> {
    const left = uncounted([...this.people.values()]);
    this.people.clear();
    await this.store(left);
  }

  private async store(events: readonly AuditEvent[]): Promise<void> {
    if (events.length === 0) {
      return;
    }
    for (const { kind, provider, reason, count } of events) {
      this.logger.log({
        msg: 'audit',
        kind,
        actor: 'user',
        accountId: null,
        provider,
        reason,
        count,
      });
    }
    try {
      await this.events.add(events, new Date(this.clock.now()));
    } catch (error) {
      const reason = error instanceof Error ? error.message : undefined;
      this.logger.warn({ msg: 'refused people were not stored', count: events.length, reason });
    }
  }
}

function uncounted(refusals: readonly Refusals[]): AuditEvent[] {
  return refusals.flatMap(({ event, count }) => (count === 0 ? [] : [{ ...event, count }]));
}

/** An address that the provider has not verified may be of another person. */
function eventOf(
  { provider, facts, address, reason }: RefusedPerson,
  subject: string,
  kind: AuditEvent['kind'],
): AuditEvent {
  const { login, email, emailVerified } = facts;
  return {
    kind,
    actor: 'user',
    accountId: null,
    provider,
    reason,
    subject: storable(subject),
    ...(login !== null && { login: storable(login) }),
    ...(email !== null && emailVerified && { email: storable(email) }),
    ...(address !== null && { address }),
  };
}

/** PostgreSQL stores no NUL, and no half of a surrogate pair; people see no other control either. */
function storable(text: string): string {
  return [...text.replace(/[\p{Cc}\p{Cs}]/gu, '')].slice(0, MAX_CHARACTERS).join('');
}
