import { Injectable } from '@nestjs/common';
import type { AuditEvent, EndEvent } from '../../../core/policy/audit-event.js';
import { holdAccounts, nextUpdateSeq } from '../account-row.js';
import { DatabaseService, type Transaction } from '../database.service.js';
import { AccountEntity } from '../entities/account.entity.js';
import { SessionEntity } from '../entities/session.entity.js';
import { insertAuditEvents } from './audit.repository.js';
import {
  deleteGrants,
  type GrantEndedBy,
  type RowCondition,
} from './programs/program-grant.repository.js';
import { tokenEvent } from './push-token.repository.js';
import { AUTHENTICATED_BY } from './session.repository.js';

/** The actor who ends a session, and an administrator's reason. */
type EndedBy = Pick<AuditEvent, 'actor' | 'reason' | 'address'>;

interface SessionEnd {
  readonly isEnded: boolean;
  /** The audit events that were stored. */
  readonly events: readonly AuditEvent[];
  /** The `seq` of the update to send; null when the account's push tokens stay as they are. */
  readonly seq: number | null;
}

/** `$3` is `on` where the grants that the session approved go on (migrations/program-grant-triggers.ts). */
const END = `
  WITH "keeps" AS (
    SELECT set_config('gatehouse.keeps_grants', $3, true)),
  "ended" AS (
    DELETE FROM "session" WHERE "account_id" = $1 AND "id" = $2 RETURNING 1),
  "removed" AS (
    DELETE FROM "push_token" WHERE "account_id" = $1 AND "session_id" = $2 RETURNING "token")
  SELECT EXISTS (SELECT FROM "ended") AS "isEnded", (SELECT * FROM "keeps") AS "keeps",
    COALESCE((SELECT json_agg("token") FROM "removed"), '[]') AS "tokens"`;

/** Sessions that a person or an administrator ends, with the push tokens that they saved last. */
@Injectable()
export class SessionEndRepository {
  constructor(private readonly database: DatabaseService) {}

  /** @param isSignOut true if the session itself ends: the programs that it approved stay */
  end(
    accountId: string,
    sessionId: string,
    by: EndedBy,
    now: Date,
    isSignOut = false,
  ): Promise<SessionEnd> {
    return this.database.transaction(async (tx) => {
      await holdAccounts(tx, [accountId]);
      type Row = { readonly isEnded: boolean; readonly tokens: readonly string[] };
      const rows = await tx.query<Row>(END, [accountId, sessionId, isSignOut ? 'on' : 'off']);
      const { isEnded, tokens } = rows[0] ?? { isEnded: false, tokens: [] };
      const about = { accountId, sessionId, ...by };
      const events: AuditEvent[] = [
        ...(isEnded ? [{ kind: 'token-revoked', ...about } as const] : []),
        ...tokens.map((token) => tokenEvent('push-token-removed', token, about)),
      ];
      await insertAuditEvents(tx, events, now);
      const seq = tokens.length === 0 ? null : await nextUpdateSeq(tx, accountId);
      return { isEnded, events, seq };
    });
  }

  /** @returns the audit events that were stored */
  endAll(accountId: string, now: Date): Promise<readonly AuditEvent[]> {
    return this.database.transaction(async (tx) => {
      const by = { actor: 'user' } as const;
      const removed = await endSessionsOf(tx, accountId, by, now);
      if (removed === null) {
        return [];
      }
      const event = { kind: 'all-tokens-revoked', ...by, accountId } as const;
      await insertAuditEvents(tx, [event], now);
      return [event, ...removed];
    });
  }
}

/**
 * Ends every session of the account and removes its push tokens. The epoch also ends the sessions
 * of simultaneous logins, whose rows this transaction does not see.
 * @returns the stored audit events of the push tokens; null when there is no such account
 */
export async function endSessionsOf(
  tx: Transaction,
  accountId: string,
  by: EndedBy,
  now: Date,
): Promise<readonly AuditEvent[] | null> {
  const { manager } = tx;
  const { affected } = await manager.increment(AccountEntity, { id: accountId }, 'tokenEpoch', 1);
  if (affected !== 1) {
    return null;
  }
  await manager.delete(SessionEntity, { accountId });
  const { events } = await removeTokens(tx, { accountId, sessionIds: null }, by, now);
  return events;
}

/** SQL: sessions of the account `$1` that began with the login method `$2` or were approved by such a one. */
export const LOGINS_BY = `"account_id" = $1 AND ${AUTHENTICATED_BY} = $2`;

/** The push tokens that sessions of an account saved last; null = of every session. */
interface SavedTokens {
  readonly accountId: string;
  readonly sessionIds: readonly string[] | null;
}

/** @returns the stored audit events, and the `seq` of the update to send; null = there were none */
export async function removeTokens(
  tx: Transaction,
  { accountId, sessionIds }: SavedTokens,
  by: Omit<AuditEvent, 'kind' | 'accountId'>,
  now: Date,
): Promise<{ readonly events: readonly AuditEvent[]; readonly seq: number | null }> {
  const removed = await tx.query<{ token: string }>(
    `DELETE FROM "push_token" WHERE "account_id" = $1
       AND ($2::uuid[] IS NULL OR "session_id" = ANY($2)) RETURNING "token"`,
    [accountId, sessionIds],
  );
  const events = removed.map(({ token }) =>
    tokenEvent('push-token-removed', token, { ...by, accountId }),
  );
  await insertAuditEvents(tx, events, now);
  return { events, seq: events.length === 0 ? null : await nextUpdateSeq(tx, accountId) };
}

/**
 * Ends the account's sessions that began with one login method or were approved by such a one, the programs that they
 * approved, and the push tokens that they saved last.
 * @returns the stored audit events, and the `seq` of the removed push tokens; null = there were none
 */
export async function endLoginsBy(
  tx: Transaction,
  accountId: string,
  method: string,
  now: Date,
): Promise<{ readonly events: readonly AuditEvent[]; readonly pushTokensSeq: number | null }> {
  await holdAccounts(tx, [accountId]);
  const by = { actor: 'user', provider: method } as const;
  const parameters = [accountId, method];
  const grants = { where: '"account_id" = $1 AND "authenticated_by" = $2', parameters };
  const sessions = { where: LOGINS_BY, parameters };
  const ends = await endSessions(tx, { sessions, grants }, by, now);
  const sessionIds = ends.flatMap(({ sessionId }) => sessionId ?? []);
  const removed = await removeTokens(tx, { accountId, sessionIds }, by, now);
  return { events: [...ends, ...removed.events], pushTokensSeq: removed.seq };
}

/**
 * Ends sessions, and before them grants: a trigger ends those that the sessions approved, without an event
 * of their own. Call it with the accounts held. The sessions come first in the audit log: backends get the first
 * event of a transaction as its cause, and a session does not end with a program.
 * @param grants null = no others than those that the sessions approved
 * @returns the stored audit events
 */
export async function endSessions(
  tx: Transaction,
  { sessions, grants }: { readonly sessions: RowCondition; readonly grants: RowCondition | null },
  by: GrantEndedBy,
  now: Date,
): Promise<EndEvent[]> {
  const programs = grants === null ? [] : await deleteGrants(tx, grants, by);
  const ended = await tx.query<{ readonly sessionId: string; readonly accountId: string }>(
    `DELETE FROM "session" WHERE ${sessions.where}
     RETURNING "id" AS "sessionId", "account_id" AS "accountId"`,
    sessions.parameters,
  );
  const ends = ended.map((one): EndEvent => ({ kind: 'token-revoked', ...one, ...by }));
  const events = [...ends, ...programs];
  await insertAuditEvents(tx, events, now);
  return events;
}
