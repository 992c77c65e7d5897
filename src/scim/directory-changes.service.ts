import { Inject, Injectable } from '@nestjs/common';
import type { ConfigType } from '@nestjs/config';
import { AuditService } from '../audit/audit.service.js';
import { authConfig } from '../config/auth.config.js';
import { IdentityChangesService } from '../identities/identity-changes.service.js';
import { MetricsService } from '../metrics/metrics.service.js';
import type { AuditEvent } from '../policy/audit-event.js';
import type { DirectoryRules } from '../policy/eligibility/provider-rules.js';
import type { Transaction } from '../storage/database.service.js';
import { insertAuditEvents } from '../storage/repositories/audit.repository.js';
import { DirectoryLinkRepository } from '../storage/repositories/directory/directory-link.repository.js';
import type { DirectoryPerson } from '../storage/repositories/directory/directory-person.repository.js';
import {
  IdentitySignalRepository,
  type SignalEffect,
} from '../storage/repositories/directory/identity-signal.repository.js';

const REASON = 'directory';

type Outcome = 'deactivated' | 'activated' | 'unmatched' | 'ambiguous';

/** To announce once the change is committed. */
export interface DirectoryEffect {
  readonly provider: string;
  readonly outcome: Outcome;
  /** null = no account has the identity. */
  readonly account: SignalEffect | null;
  readonly events: readonly AuditEvent[];
}

/** The person before and after a request; null = did not exist, or no longer does. */
interface PersonChange {
  readonly before: DirectoryPerson | null;
  readonly after: DirectoryPerson | null;
  readonly now: Date;
}

/** Applies what a directory says about a person to the identity that the person matches. */
@Injectable()
export class DirectoryChangesService {
  constructor(
    private readonly links: DirectoryLinkRepository,
    private readonly signals: IdentitySignalRepository,
    private readonly changes: IdentityChangesService,
    private readonly audit: AuditService,
    private readonly metrics: MetricsService,
    @Inject(authConfig.KEY) private readonly auth: ConfigType<typeof authConfig>,
  ) {}

  /**
   * Stores the word of the directory in the transaction of the change.
   *
   * @returns null when nothing changed for the person; `isKnown` false = no subject is known yet
   */
  async apply(
    tx: Transaction,
    { match }: DirectoryRules,
    change: PersonChange,
  ): Promise<{ readonly effect: DirectoryEffect | null; readonly isKnown: boolean }> {
    const { before, after, now } = change;
    const person = (after ?? before) as DirectoryPerson;
    const { provider } = person;
    await this.withdrawFormer(tx, match, before, after);
    const found = await this.links.match(tx, match, person);
    const isAllowed = after?.isActive === true;
    const isDeactivation = !isAllowed && before?.isActive === true;
    if (found.subject === null) {
      const outcome = found.isAmbiguous ? 'ambiguous' : 'unmatched';
      const name = person.externalId ?? person.userName;
      const effect = isDeactivation ? await unmatched(tx, person, name, outcome, now) : null;
      return { effect, isKnown: found.isAmbiguous };
    }
    const subject = { provider, subject: found.subject };
    const word = { ...subject, source: 'directory', isAllowed, at: null } as const;
    const news = await this.signals.store(tx, word);
    if (news === 'none') {
      return { effect: null, isKnown: true };
    }
    const isRequired = this.auth.requiredLoginProviders.includes(provider);
    const event = { kind: isAllowed ? 'directory-activated' : 'directory-deactivated' } as const;
    const effects = { isAllowed, isRequired, event, reason: REASON, now };
    const account = await this.signals.apply(tx, subject, effects);
    if (account === null) {
      const effect = isDeactivation
        ? await unmatched(tx, person, found.subject, 'unmatched', now)
        : null;
      return { effect, isKnown: true };
    }
    const outcome = isAllowed ? 'activated' : 'deactivated';
    return { effect: { provider, outcome, account, events: account.events }, isKnown: true };
  }

  /** Closes connections on every replica. Call it after the commit. */
  announce({ provider, outcome, account, events }: DirectoryEffect): void {
    this.metrics.directoryChanges.inc({ provider, outcome });
    if (account === null) {
      events.forEach((event) => this.audit.log(event));
      return;
    }
    const closes = outcome === 'deactivated' ? 'not-eligible' : undefined;
    this.changes.announceSignal(account, { provider, reason: REASON, closes });
  }

  /** A person without an identity was named by an id that the directory has now changed. */
  private async withdrawFormer(
    tx: Transaction,
    match: DirectoryRules['match'],
    before: DirectoryPerson | null,
    after: DirectoryPerson | null,
  ): Promise<void> {
    const former = before?.subject === null && match === 'externalId' ? before.externalId : null;
    if (before !== null && after !== null && former !== null && former !== after.externalId) {
      const of = { provider: before.provider, subject: former };
      await this.signals.withdraw(tx, of, 'directory');
    }
  }
}

async function unmatched(
  tx: Transaction,
  { provider }: DirectoryPerson,
  subject: string,
  outcome: 'unmatched' | 'ambiguous',
  now: Date,
): Promise<DirectoryEffect> {
  const person = { actor: 'provider', accountId: null, provider, subject } as const;
  const event = { kind: 'directory-deactivated', ...person, reason: outcome } as const;
  await insertAuditEvents(tx, [event], now);
  return { provider, outcome, account: null, events: [event] };
}
