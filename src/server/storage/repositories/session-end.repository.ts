import { Injectable } from '@nestjs/common';
import type { AuditEvent, EndEvent } from '../../../core/policy/audit-event.js';
import { holdAccounts, nextUpdateSeq } from '../account-row.js';
import { DatabaseService, type Transaction } from '../database.service.js';
import { AccountEntity } from '../entities/account.entity.js';
import { SessionEntity } from '../entities/session.entity.js';
import { insertAuditEvents } from './audit.repository.js';
import { deleteGrants } from './programs/program-grant.repository.js';
import { tokenEvent } from './push-token.repository.js';
import { AUTHENTICATED_BY } from './session.repository.js';

/** The actor who ends a session, and an administrator's reason. */
type EndedBy = Pick<AuditEvent, 'actor' | 'reason' | 'address'>;

export interface SessionOfAccount {
  readonly sessionId: string;
  readonly accountId: string;
}

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
  const removed = await tx.query<{ token: string }>(
    `DELETE FROM "push_token" WHERE "account_id" = $1 RETURNING "token"`,
    [accountId],
  );
  const events = removed.map(({ token }) =>
    tokenEvent('push-token-removed', token, { accountId, ...by }),
  );
  if (events.length > 0) {
    await insertAuditEvents(tx, events, now);
    await nextUpdateSeq(tx, accountId);
  }
  return events;
}

/** Deletes the account's sessions that began with one login method or were approved by such a one. */
export function deleteLoginsBy(
  tx: Transaction,
  accountId: string,
  method: string,
): Promise<SessionOfAccount[]> {
  return tx.query<SessionOfAccount>(
    `DELETE FROM "session" WHERE "account_id" = $1 AND ${AUTHENTICATED_BY} = $2
     RETURNING "id" AS "sessionId", "account_id" AS "accountId"`,
    [accountId, method],
  );
}

/** Returns the push tokens that the sessions had saved last. */
export async function removeTokens(
  tx: Transaction,
  accountId: string,
  sessionIds: readonly string[],
): Promise<string[]> {
  const removed = await tx.query<{ token: string }>(
    `DELETE FROM "push_token" WHERE "account_id" = $1 AND "session_id" = ANY($2::uuid[])
     RETURNING "token"`,
    [accountId, sessionIds],
  );
  return removed.map(({ token }) => token);
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
  const where = '"account_id" = $1 AND "authenticated_by" = $2';
  const programs = await deleteGrants(tx, { where, parameters: [accountId, method] }, by);
  const sessions = await deleteLoginsBy(tx, accountId, method);
  const ended = sessions.map(({ sessionId }) => sessionId);
  const tokens = await removeTokens(tx, accountId, ended);
  const ends = await storeEnds(tx, { sessions, programs }, by, now);
  const removed = tokens.map((token) =>
    tokenEvent('push-token-removed', token, { ...by, accountId }),
  );
  await insertAuditEvents(tx, removed, now);
  const pushTokensSeq = removed.length === 0 ? null : await nextUpdateSeq(tx, accountId);
  return { events: [...ends, ...removed], pushTokensSeq };
}

/**
 * Stores the ends of sessions, and of programs that ended with them. The sessions come first: backends
 * get the first event of a transaction as its cause, and a session does not end with a program.
 * @returns the stored audit events
 */
export async function storeEnds(
  tx: Transaction,
  {
    sessions,
    programs,
  }: { readonly sessions: readonly SessionOfAccount[]; readonly programs: readonly EndEvent[] },
  by: Omit<AuditEvent, 'kind' | 'accountId' | 'sessionId'>,
  now: Date,
): Promise<EndEvent[]> {
  const ended = sessions.map((one): EndEvent => ({ kind: 'token-revoked', ...one, ...by }));
  const events = [...ended, ...programs];
  await insertAuditEvents(tx, events, now);
  return events;
}
