import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '../audit/audit.service.js';
import { authConfig, type AuthSettings } from '../config/auth.config.js';
import { IdentityChangesService } from '../identities/identity-changes.service.js';
import { MetricsService } from '../metrics/metrics.service.js';
import type { AuditEvent } from '../../core/policy/audit-event.js';
import type { DirectoryRules } from '../../core/policy/eligibility/provider-rules.js';
import type { Transaction } from '../storage/database.service.js';
import { insertAuditEvents } from '../storage/repositories/audit.repository.js';
import { DirectoryLinkRepository } from '../storage/repositories/directory/directory-link.repository.js';
import {
  isNameMatch,
  isOfOtherId,
  type PersonChange,
  type PersonMatch,
} from '../storage/repositories/directory/directory-names.js';
import type { DirectoryPerson } from '../storage/repositories/directory/directory-person.repository.js';
import {
  IdentitySignalRepository,
  type SignalEffect,
} from '../storage/repositories/directory/identity-signal.repository.js';

const REASON = 'directory';

type Outcome = 'deactivated' | 'activated' | 'unmatched' | 'ambiguous';

/** To announce once the change is committed. */
interface DirectoryEffect {
  readonly provider: string;
  readonly outcome: Outcome;
  /** Empty = no account has an identity of the person. */
  readonly accounts: readonly SignalEffect[];
  readonly events: readonly AuditEvent[];
}

interface AppliedChange {
  readonly effect: DirectoryEffect | null;
  readonly isKnown: boolean;
  readonly withdrawn: Withdrawal | null;
}

/** A person that the directory no longer names. */
interface Withdrawal {
  readonly provider: string;
  readonly accountId: string;
  /** null = the directory is not required, and the account keeps its access. */
  readonly event: AuditEvent | null;
}

type DatedChange = PersonChange & { readonly now: Date };

/** Applies what a directory says about a person to the identities that the person matches. */
@Injectable()
export class DirectoryChangesService {
  constructor(
    private readonly links: DirectoryLinkRepository,
    private readonly signals: IdentitySignalRepository,
    private readonly changes: IdentityChangesService,
    private readonly audit: AuditService,
    private readonly metrics: MetricsService,
    @Inject(authConfig.KEY) private readonly auth: AuthSettings,
  ) {}

  /**
   * Stores the word of the directory in the transaction of the change.
   *
   * @returns null when nothing changed for the person; `isKnown` false = a first login may be the person's;
   * `withdrawn` = another person that the directory no longer names
   */
  async apply(tx: Transaction, rules: DirectoryRules, change: DatedChange): Promise<AppliedChange> {
    const found = await this.links.match(tx, rules.match, change);
    const withdrawn = await this.withdrawFormer(tx, rules, change, found);
    const { isKnown } = found;
    const { before, after, now } = change;
    const isAllowed = after?.isActive === true;
    const { accounts, isNews } = await this.store(tx, found, change);
    const { provider, externalId, userName } = (after ?? before) as DirectoryPerson;
    if (accounts.length > 0) {
      const outcome = isAllowed ? 'activated' : 'deactivated';
      const events = accounts.flatMap((account) => account.events);
      return { effect: { provider, outcome, accounts, events }, isKnown, withdrawn };
    }
    if (isAllowed || before?.isActive !== true || !(isNews || found.refused.length === 0)) {
      return { effect: null, isKnown, withdrawn };
    }
    const outcome = found.isAmbiguous ? 'ambiguous' : 'unmatched';
    const name = found.refused[0] ?? externalId ?? userName;
    const effect = await unmatched(tx, { provider, subject: name }, outcome, now);
    return { effect, isKnown, withdrawn };
  }

  /** @returns `isNews` true if the word about a subject is another one than before */
  private async store(
    tx: Transaction,
    { refused, admitted, isAmbiguous }: PersonMatch,
    { before, after, now }: DatedChange,
  ): Promise<{ readonly accounts: readonly SignalEffect[]; readonly isNews: boolean }> {
    const { id: personId, provider } = (after ?? before) as DirectoryPerson;
    const isAllowed = after?.isActive === true;
    const event = {
      kind: isAllowed ? 'directory-activated' : 'directory-deactivated',
      ...(isAmbiguous && { reason: 'ambiguous' }),
    } as const;
    const isRequired = this.auth.requiredLoginProviders.includes(provider);
    const effects = { isAllowed, isRequired, event, reason: REASON, now };
    const accounts: SignalEffect[] = [];
    let isNews = false;
    for (const subject of isAllowed ? [admitted] : refused) {
      if (subject !== null) {
        const of = { provider, subject };
        const word = { ...of, source: 'directory', isAllowed, at: null, personId } as const;
        const news = await this.signals.store(tx, word);
        const account = news === 'none' ? null : await this.signals.apply(tx, of, effects);
        accounts.push(...(account === null ? [] : [account]));
        isNews ||= news !== 'none';
      }
    }
    return { accounts, isNews };
  }

  /** Closes connections on every replica. Call it after the commit. */
  announce({ provider, outcome, accounts, events }: DirectoryEffect): void {
    if (accounts.length === 0) {
      this.metrics.directoryChanges.inc({ provider, outcome });
      events.forEach((event) => this.audit.log(event));
    }
    const closes = outcome === 'deactivated' ? 'not-eligible' : undefined;
    for (const account of accounts) {
      this.metrics.directoryChanges.inc({ provider, outcome });
      this.changes.announceSignal(account, provider, closes);
    }
  }

  /** Closes the connections of an account whose person a required directory no longer shows. Call it after the commit. */
  announceWithdrawn({ provider, accountId, event }: Withdrawal): void {
    const closes = event === null ? undefined : 'not-eligible';
    this.changes.announce({ accountId, seq: null, event }, closes, provider);
  }

  /** The subject that the entry named is not the one that it admits now. */
  private async withdrawFormer(
    tx: Transaction,
    { match, required }: DirectoryRules,
    { before, after, now }: DatedChange,
    { admitted }: PersonMatch,
  ): Promise<Withdrawal | null> {
    const former = formerOf(match, { before, after });
    if (before === null || after === null || former === null || former === admitted) {
      return null;
    }
    const of = { provider: before.provider, subject: former };
    const accountId = await this.signals.withdraw(tx, of, before.id);
    if (accountId === null || !required) {
      return accountId === null ? null : { provider: of.provider, accountId, event: null };
    }
    const about = { actor: 'provider', accountId, ...of, reason: 'directory_missing' } as const;
    const event = { kind: 'directory-deactivated', ...about } as const;
    await insertAuditEvents(tx, [event], now);
    return { provider: of.provider, accountId, event };
  }
}

/**
 * Returns the subject of an id that the directory has now changed: that of the match or, without one, the id itself. null =
 * none, also for a person who is refused with the change.
 */
function formerOf(match: DirectoryRules['match'], { before, after }: PersonChange): string | null {
  if (before === null || after === null || isNameMatch(match)) {
    return null;
  }
  if (before.subject !== null) {
    return after.isActive && isOfOtherId({ before, after }) ? before.subject : null;
  }
  const isChanged = match === 'externalId' && before.externalId !== after.externalId;
  return isChanged ? before.externalId : null;
}

async function unmatched(
  tx: Transaction,
  person: { readonly provider: string; readonly subject: string },
  outcome: 'unmatched' | 'ambiguous',
  now: Date,
): Promise<DirectoryEffect> {
  const about = { actor: 'provider', accountId: null, ...person } as const;
  const event = { kind: 'directory-deactivated', ...about, reason: outcome } as const;
  await insertAuditEvents(tx, [event], now);
  return { provider: person.provider, outcome, accounts: [], events: [event] };
}
