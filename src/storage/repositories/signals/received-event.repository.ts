import { Injectable } from '@nestjs/common';
import type { EventEffect } from '../../../policy/eligibility/security-events.js';
import type { SubjectName } from '../../../policy/eligibility/subject-identifier.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import {
  IdentitySignalRepository,
  type EndedSession,
  type SignalEffect,
} from '../directory/identity-signal.repository.js';
import { DUE_NOW } from '../identity-due.repository.js';
import { endProviderSession, tokenHashOf, useToken } from './provider-logout.repository.js';

export const SHARED_SIGNALS_REASON = 'shared-signals';

/** A verified security event of a provider. */
export interface ReceivedEvent {
  readonly tokenId: string;
  readonly effect: EventEffect;
  readonly names: readonly SubjectName[];
  /** The provider's session that the event is about; null = all of the person. */
  readonly session: string | null;
  readonly at: Date;
  /** True if every session of an account needs the provider. */
  readonly isRequired: boolean;
}

/** `unmatched`: no account has the identity. `unchanged`: a newer event was known. */
export type EventOutcome =
  'applied' | 'unmatched' | 'ambiguous' | 'unchanged' | 'counted' | 'repeated';

export interface EventResult {
  readonly outcome: EventOutcome;
  readonly effects: readonly SignalEffect[];
  /** Sessions that were part of the provider's. */
  readonly ended: readonly EndedSession[];
  /** The number of identities that became due. */
  readonly due: number;
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
    const none = { effects: [], ended: [], due: 0 };
    return this.database.transaction(async (tx) => {
      const tokenHash = tokenHashOf(provider, SHARED_SIGNALS_REASON, event.tokenId);
      if (!(await useToken(tx, tokenHash, expiresAt))) {
        return { outcome: 'repeated', ...none };
      }
      return { ...none, ...(await this.change(tx, provider, event, now)) };
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
        return this.makeDue(tx, provider, event);
    }
  }

  private async signOut(
    tx: Transaction,
    provider: string,
    { names, session: providerSession, isRequired }: ReceivedEvent,
    now: Date,
  ): Promise<Changed> {
    const reason = SHARED_SIGNALS_REASON;
    if (providerSession !== null) {
      const ended = await endProviderSession(tx, { provider, providerSession, reason, now });
      return { outcome: ended.length > 0 ? 'applied' : 'unmatched', ended };
    }
    const effects: SignalEffect[] = [];
    for (const subject of await this.subjectsOf(tx, provider, names)) {
      const effect = await this.signals.signOut(
        tx,
        { provider, subject },
        { isRequired, reason, now },
      );
      effects.push(...(effect === null ? [] : [effect]));
    }
    return { outcome: effects.length > 0 ? 'applied' : 'unmatched', effects };
  }

  /** A refusal is stored for a subject without an identity too, unless it is ambiguous. */
  private async judge(
    tx: Transaction,
    provider: string,
    { effect: word, names, at, isRequired }: ReceivedEvent,
    now: Date,
  ): Promise<Changed> {
    const found = await this.subjectsOf(tx, provider, names);
    const named = names.flatMap((name) => ('subject' in name ? [name.subject] : []));
    const [subject, ...others] = found.length > 0 ? found : [...new Set(named)];
    if (others.length > 0) {
      return { outcome: 'ambiguous' };
    }
    if (subject === undefined) {
      return { outcome: 'unmatched' };
    }
    const isAllowed = word === 'admit';
    const of = { provider, subject };
    const news = await this.signals.store(tx, { ...of, source: 'shared-signals', isAllowed, at });
    if (news === 'none') {
      return { outcome: found.length > 0 ? 'unchanged' : 'unmatched' };
    }
    const kind = isAllowed ? 'eligibility-regained' : 'eligibility-lost';
    const event = { kind, reason: SHARED_SIGNALS_REASON } as const;
    const change = { isAllowed, isRequired, event, reason: SHARED_SIGNALS_REASON, now };
    const effect = await this.signals.apply(tx, of, change);
    const due = isAllowed ? await markDue(tx, provider, [subject]) : 0;
    return effect === null
      ? { outcome: 'unmatched' }
      : { outcome: 'applied', effects: [effect], due };
  }

  private async makeDue(
    tx: Transaction,
    provider: string,
    { effect, names }: ReceivedEvent,
  ): Promise<Changed> {
    const subjects = await this.subjectsOf(tx, provider, names);
    const due = await markDue(
      tx,
      provider,
      subjects,
      effect === 'forget-email' ? FORGET_EMAIL : '',
    );
    return { outcome: due > 0 ? 'applied' : 'unmatched', due };
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

/** @param change SQL of further changes. @returns the number of identities */
async function markDue(
  tx: Transaction,
  provider: string,
  subjects: readonly string[],
  change = '',
): Promise<number> {
  const made = await tx.query(
    `UPDATE "identity" SET ${change}"eligibility_next_check_at" = ${DUE_NOW}
     WHERE "provider" = $1 AND "subject" = ANY($2::text[]) RETURNING 1`,
    [provider, subjects],
  );
  return made.length;
}
