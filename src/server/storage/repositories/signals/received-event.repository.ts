import { Injectable } from '@nestjs/common';
import type { AuditEvent, EndEvent, SignalOrigin } from '../../../../core/policy/audit-event.js';
import type { EventEffect } from '../../../../core/policy/eligibility/security-events.js';
import type { SubjectName } from '../../../../core/policy/eligibility/subject-identifier.js';
import { lockIdentity } from '../../account-row.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { insertAuditEvents } from '../audit.repository.js';
import {
  IdentitySignalRepository,
  type SignalEffect,
} from '../directory/identity-signal.repository.js';
import {
  lockEmails,
  ownersOf,
  removeEmailSignals,
  removeOlderYes,
  storeEmailSignal,
  type EmailSignal,
} from './email-signals.js';
import { DUE_NOW } from '../identity-due.repository.js';
import { endProviderSession, tokenHashOf, useToken } from './provider-logout.repository.js';
import { noteStreamNews, type StreamNews } from './signal-stream.repository.js';
import { keepSignOut, lockSignOuts, waitingFor } from './waiting-sign-outs.js';

export const SHARED_SIGNALS_REASON = 'shared-signals';

/** The clocks of the transmitter and of this server differ by less. */
const CLOCK_DIFFERENCE_MS = 5 * 60_000;

/** A verified security event of a provider. */
interface ReceivedEvent {
  readonly tokenId: string;
  readonly effect: EventEffect;
  readonly names: readonly SubjectName[];
  /** The provider's session that the event is about; null = all of the person. */
  readonly session: string | null;
  readonly at: Date;
  /** True if every session of an account needs the provider. */
  readonly isRequired: boolean;
  readonly origin: SignalOrigin;
  /** null = the event is not about its stream. */
  readonly news: StreamNews | null;
}

/** `unmatched`: no account has the identity. `unchanged`: a newer event was known. */
export type EventOutcome =
  | 'applied'
  | 'unmatched'
  | 'ambiguous'
  | 'unchanged'
  | 'counted'
  | 'repeated';

export interface EventResult {
  readonly outcome: EventOutcome;
  readonly effects: readonly SignalEffect[];
  /** Stored ends of sessions and programs that were part of the provider's session. */
  readonly ended: readonly EndEvent[];
  /** The number of identities that became due. */
  readonly due: number;
  /** Stored events that belong to none of the above. */
  readonly events: readonly AuditEvent[];
  /** True if the event changed the status of its stream. */
  readonly hasNewStatus: boolean;
}

/** A word about subjects. */
interface Word extends Pick<ReceivedEvent, 'at' | 'isRequired' | 'origin'> {
  readonly isAllowed: boolean;
  /** True if an address stands for more than one of them. */
  readonly isAmbiguous: boolean;
  /** True if one of them has an identity. */
  readonly hasIdentity: boolean;
  readonly now: Date;
}

type Changed = Pick<EventResult, 'outcome'> & Partial<EventResult>;

/** Without a provider's definite answer, an address may belong to another person meanwhile. */
const FORGET_EMAIL = `"facts" = "facts" || '{"email": null, "emailVerified": false}'::jsonb, `;

/** Stores the effects of security events, each with the use of its token. */
@Injectable()
export class ReceivedEventRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly signals: IdentitySignalRepository,
  ) {}

  /** @param expiresAt end of the time for which the used token is remembered */
  apply(provider: string, event: ReceivedEvent, expiresAt: Date, now: Date): Promise<EventResult> {
    const none = { effects: [], ended: [], due: 0, events: [], hasNewStatus: false };
    return this.database.transaction(async (tx) => {
      const tokenHash = tokenHashOf(provider, SHARED_SIGNALS_REASON, event.tokenId);
      if (!(await useToken(tx, tokenHash, expiresAt))) {
        return { outcome: 'repeated', ...none };
      }
      const hasNewStatus = event.news !== null && (await noteStreamNews(tx, event.news));
      return { ...none, hasNewStatus, ...(await this.change(tx, provider, event, now)) };
    });
  }

  private async change(
    tx: Transaction,
    provider: string,
    event: ReceivedEvent,
    now: Date,
  ): Promise<Changed> {
    switch (event.effect) {
      case 'none':
      case 'risk':
        return { outcome: 'counted' };
      case 'sign-out':
        return this.signOut(tx, provider, event, now);
      case 'refuse':
      case 'admit':
        return this.judge(tx, provider, event, now);
      case 'recheck':
      case 'forget-email':
        return this.makeDue(tx, provider, event, now);
    }
  }

  private async signOut(
    tx: Transaction,
    provider: string,
    { names, session: providerSession, isRequired, origin, at }: ReceivedEvent,
    now: Date,
  ): Promise<Changed> {
    const reason = SHARED_SIGNALS_REASON;
    const signedOut = providerSession === null ? names : [{ session: providerSession }];
    await lockSignOuts(tx, provider, signedOut);
    const until = new Date(Math.min(at.getTime() + CLOCK_DIFFERENCE_MS, now.getTime()));
    await keepSignOut(tx, provider, signedOut, until, now);
    if (providerSession !== null) {
      const end = { provider, providerSession, reason, now, origin };
      const ended = await endProviderSession(tx, end);
      return { outcome: ended.length > 0 ? 'applied' : 'unmatched', ended };
    }
    const effects: SignalEffect[] = [];
    const subjects = await this.subjectsOf(tx, provider, names);
    for (const subject of subjects) {
      const by = { isRequired, reason, now, origin };
      const isLate = until < now;
      const effect = await this.signals.signOut(
        tx,
        { provider, subject },
        by,
        isLate ? until : null,
      );
      effects.push(...(effect === null ? [] : [effect]));
    }
    const without = subjects.length > 0 ? 'unchanged' : 'unmatched';
    return { outcome: effects.length > 0 ? 'applied' : without, effects };
  }

  /** An id names one person. An address stands for every subject whose last login proved it. */
  private async judge(
    tx: Transaction,
    provider: string,
    event: ReceivedEvent,
    now: Date,
  ): Promise<Changed> {
    const emails = emailsOf(event.names);
    await lockEmails(tx, provider, emails);
    const ids = event.names.flatMap((name) => ('subject' in name ? [name.subject] : []));
    const [id, ...others] = new Set(ids);
    if (others.length > 0) {
      return { outcome: 'ambiguous' };
    }
    const isKnown =
      id !== undefined && (await this.signals.subjectsOf(tx, provider, { subject: id })).length > 0;
    const owners = isKnown ? [] : await ownersOf(tx, provider, emails);
    const free = owners.filter(({ isRefused }) => !isRefused).map(({ subject }) => subject);
    const isAllowed = event.effect === 'admit';
    if (isAllowed && owners.length > 1) {
      return { outcome: 'ambiguous' };
    }
    const subjects = id === undefined || free.includes(id) ? free : [id, ...free];
    if (!isAllowed && free.length > 0) {
      await removeOlderYes(tx, provider, emails, event.at);
    }
    if (subjects.length === 0) {
      const kept = emails.map((email) => ({ provider, email, isAllowed, at: event.at }));
      return this.keep(tx, kept, event.origin, now);
    }
    const isAmbiguous = free.length > 1;
    const hasIdentity = isKnown || free.length > 0;
    return this.say(
      tx,
      { provider, subjects },
      { ...event, isAllowed, isAmbiguous, hasIdentity, now },
    );
  }

  /** A word is stored for a subject without an identity, too. */
  private async say(
    tx: Transaction,
    { provider, subjects }: { readonly provider: string; readonly subjects: readonly string[] },
    { isAllowed, at, isRequired, origin, now, ...said }: Word,
  ): Promise<Changed> {
    const event = {
      kind: isAllowed ? 'eligibility-regained' : 'eligibility-lost',
      reason: said.isAmbiguous ? 'ambiguous' : SHARED_SIGNALS_REASON,
    } as const;
    const change = { isAllowed, isRequired, event, reason: SHARED_SIGNALS_REASON, now, origin };
    const effects: SignalEffect[] = [];
    const events: AuditEvent[] = [];
    let isNews = false;
    for (const subject of subjects) {
      const of = { provider, subject };
      const word = { ...of, source: 'shared-signals', isAllowed, at } as const;
      if ((await this.signals.store(tx, word)) !== 'none') {
        isNews = true;
        const effect = await this.signals.apply(tx, of, change);
        const about = { ...event, actor: 'provider', accountId: null, ...of, ...origin } as const;
        effects.push(...(effect === null ? [] : [effect]));
        events.push(...(effect === null ? [about] : []));
      }
    }
    await insertAuditEvents(tx, events, now);
    const due = isAllowed && effects.length > 0 ? await markDue(tx, provider, subjects) : [];
    const without = said.hasIdentity && !isNews ? 'unchanged' : 'unmatched';
    return { outcome: effects.length > 0 ? 'applied' : without, effects, events, due: due.length };
  }

  /** Keeps an event for the first login with its address. */
  private async keep(
    tx: Transaction,
    signals: readonly EmailSignal[],
    origin: SignalOrigin,
    now: Date,
  ): Promise<Changed> {
    const events: AuditEvent[] = [];
    for (const signal of signals) {
      const { provider, email: subject, isAllowed } = signal;
      if ((await storeEmailSignal(tx, signal)) && !isAllowed) {
        const about = { actor: 'provider', accountId: null, provider, subject, ...origin } as const;
        events.push({ ...about, kind: 'eligibility-lost', reason: SHARED_SIGNALS_REASON });
      }
    }
    await insertAuditEvents(tx, events, now);
    return { outcome: 'unmatched', events };
  }

  private async makeDue(
    tx: Transaction,
    provider: string,
    { effect, names, origin }: ReceivedEvent,
    now: Date,
  ): Promise<Changed> {
    const isForgotten = effect === 'forget-email';
    await lockSignOuts(tx, provider, names);
    // A login that is being finished would store the forgotten address again.
    const waiting = waitingFor(isForgotten ? 'refusal' : 'recheck', names);
    const subjects = await this.subjectsOf(tx, provider, names);
    for (const subject of subjects) {
      await lockIdentity(tx, { provider, subject });
    }
    await keepSignOut(tx, provider, waiting, now, now);
    const change = isForgotten ? FORGET_EMAIL : '';
    if (isForgotten) {
      await removeEmailSignals(tx, provider, emailsOf(names));
    }
    const due = await markDue(tx, provider, subjects, change);
    const about = { kind: 'recheck-requested', actor: 'provider', provider } as const;
    const reason = SHARED_SIGNALS_REASON;
    const events = due.map(({ accountId }) => ({ ...about, accountId, reason, ...origin }));
    await insertAuditEvents(tx, events, now);
    return { outcome: due.length > 0 ? 'applied' : 'unmatched', due: due.length, events };
  }

  private async subjectsOf(
    tx: Transaction,
    provider: string,
    names: readonly SubjectName[],
  ): Promise<string[]> {
    const found = new Set<string>();
    for (const name of names) {
      (await this.signals.subjectsOf(tx, provider, name)).forEach((subject) => found.add(subject));
    }
    return [...found].sort();
  }
}

function emailsOf(names: readonly SubjectName[]): string[] {
  return names.flatMap((name) => ('email' in name ? [name.email] : []));
}

/** @param change SQL of further changes */
async function markDue(
  tx: Transaction,
  provider: string,
  subjects: readonly string[],
  change = '',
): Promise<{ readonly accountId: string }[]> {
  return tx.query(
    `UPDATE "identity" SET ${change}"eligibility_next_check_at" = ${DUE_NOW}
     WHERE "provider" = $1 AND "subject" = ANY($2::text[]) RETURNING "account_id" AS "accountId"`,
    [provider, subjects],
  );
}
