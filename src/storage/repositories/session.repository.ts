import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { MAX_SESSIONS } from '../../policy/admission/access.js';
import { batched } from '../batched.js';
import { Database, type Query } from '../database.js';
import { AccountEntity } from '../entities/account.entity.js';
import { SessionEntity } from '../entities/session.entity.js';
import { accountRow } from './account-row.js';
import { insertAuditEvents } from './audit.repository.js';
import {
  newSessions,
  SESSION_COUNT,
  sessionParameters,
  sessionsFrom,
  type NewSession,
} from './session-sql.js';

/** The account that a login found. */
export interface LoggedInAccount {
  readonly id: string;
  /** Then no session was made. */
  readonly isDisabled: boolean;
  /** Live sessions that the account had before, and those of other logins at the same moment. */
  readonly sessions: number;
}

/** A live session as its account sees it. Times are Unix milliseconds. */
export interface ListedSession {
  readonly id: string;
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  readonly method: string;
  readonly clientName: string | null;
  readonly clientPlatform: string | null;
  readonly address: string | null;
}

interface Asked {
  readonly key: string | Buffer;
  readonly session: NewSession;
}

/** Logs in to the accounts whose `column` is asked for, by one statement. */
const logInBy = (column: 'id' | 'public_key', type: 'uuid' | 'bytea'): string => `
  WITH "found" AS MATERIALIZED (
    SELECT "asked".*, "account"."id", "token_epoch", "disabled_at" IS NOT NULL AS "is_disabled"
    FROM ${newSessions(1, { key: type })}
    JOIN "account" ON "account"."${column}" = "asked"."key"),
  "served" AS (SELECT * FROM "found" WHERE NOT "is_disabled"),
  ${sessionsFrom('"served"')}
  SELECT "session_id" AS "sessionId", "id", "is_disabled" AS "isDisabled",
    ${SESSION_COUNT} AS "sessions"
  FROM "found"`;

const BY_ID = logInBy('id', 'uuid');
const BY_KEY = logInBy('public_key', 'bytea');

/** What another login ends at the same moment is left to it: neither waits for the other. */
const END_SURPLUS = `
  WITH "surplus" AS (
    SELECT "id" FROM (
      SELECT "id", row_number() OVER (
        PARTITION BY "account_id" ORDER BY "last_seen_at" DESC, "id") AS "place"
      FROM "session" WHERE "account_id" = ANY($1)) AS "placed"
    WHERE "place" > $2),
  "taken" AS (
    SELECT "id" FROM "session" WHERE "id" IN (SELECT "id" FROM "surplus") FOR UPDATE SKIP LOCKED)
  DELETE FROM "session" WHERE "id" IN (SELECT "id" FROM "taken")
  RETURNING "id", "account_id" AS "accountId"`;

const LOGINS = { maxKeys: 500 };

/** Logins and how long they last. A token is good while its session is there. */
@Injectable()
export class SessionRepository {
  private readonly logInToId = batched(
    (asked: readonly Asked[]) => logInAll(this.database.query, BY_ID, asked),
    LOGINS,
  );

  private readonly logInWithKey = batched(
    (asked: readonly Asked[]) => logInAll(this.database.query, BY_KEY, asked),
    LOGINS,
  );

  /**
   * Ends the sessions of the account that were unused longest, beyond the bound; by one statement
   * for all accounts of the same moment. Gives their ids.
   */
  readonly endSurplus = batched(async (accountIds: readonly string[]) => {
    const ended = await this.database.query<{ id: string; accountId: string }>(END_SURPLUS, [
      [...new Set(accountIds)],
      MAX_SESSIONS,
    ]);
    return accountIds.map((asked) =>
      ended.flatMap(({ id, accountId }) => (accountId === asked ? [id] : [])),
    );
  }, LOGINS);

  constructor(
    private readonly database: Database,
    @InjectRepository(SessionEntity) private readonly sessions: Repository<SessionEntity>,
  ) {}

  /**
   * Stores the session of a login to this account; by one statement for all logins of the same
   * moment.
   *
   * @param query of the transaction that it belongs to, if any
   * @throws AppError `token-revoked` when the account is gone
   */
  async logInTo(accountId: string, session: NewSession, query?: Query): Promise<LoggedInAccount> {
    const asked = { key: accountId, session };
    return accountRow(
      await (query === undefined ? this.logInToId(asked) : logInOne(query, BY_ID, asked)),
    );
  }

  /** The same for the account of a device key. @returns null when no account has it */
  logInByKey(
    publicKey: Buffer,
    session: NewSession,
    query?: Query,
  ): Promise<LoggedInAccount | null> {
    const asked = { key: publicKey, session };
    return query === undefined ? this.logInWithKey(asked) : logInOne(query, BY_KEY, asked);
  }

  /** Newest first. */
  async list(accountId: string, now: Date): Promise<ListedSession[]> {
    const sessions = await this.sessions
      .createQueryBuilder('session')
      .innerJoin(
        AccountEntity,
        'account',
        'account.id = session.accountId AND account.tokenEpoch = session.tokenEpoch',
      )
      .where({ accountId, expiresAt: MoreThan(now) })
      .orderBy({ 'session.createdAt': 'DESC', 'session.id': 'ASC' })
      .getMany();
    return sessions.map(toListed);
  }

  /** Ends one session of the account. @returns whether it was there */
  end(accountId: string, sessionId: string, now: Date): Promise<boolean> {
    return this.database.transaction(async (query) => {
      const { affected } = await query.manager.delete(SessionEntity, { id: sessionId, accountId });
      if (affected === 1) {
        const event = { kind: 'token-revoked', actor: 'user', accountId, sessionId } as const;
        await insertAuditEvents(query, [event], now);
      }
      return affected === 1;
    });
  }

  /** Ends every session of the account. */
  endAll(accountId: string, now: Date): Promise<void> {
    return this.database.transaction(async (query) => {
      if (await endSessionsOf(query, accountId)) {
        const event = { kind: 'all-tokens-revoked', actor: 'user', accountId } as const;
        await insertAuditEvents(query, [event], now);
      }
    });
  }

  /** Stores when sessions were last used. @param seen Unix milliseconds by session id, bounded */
  async touch(seen: readonly (readonly [id: string, at: number])[]): Promise<void> {
    await this.database.query(
      `UPDATE "session" SET "last_seen_at" = "seen"."at"
       FROM unnest($1::uuid[], $2::timestamptz[]) AS "seen" ("id", "at")
       WHERE "session"."id" = "seen"."id" AND "last_seen_at" < "seen"."at"`,
      [seen.map(([id]) => id), seen.map(([, at]) => new Date(at))],
    );
  }
}

/** With the id of the session that was made. */
export interface LoggedInRow extends LoggedInAccount {
  readonly sessionId: string;
}

/**
 * Ends every session of the account. The epoch also ends those of logins at the same moment, whose
 * rows this transaction does not see.
 *
 * @returns whether there is such an account
 */
export async function endSessionsOf({ manager }: Query, accountId: string): Promise<boolean> {
  const { affected } = await manager.increment(AccountEntity, { id: accountId }, 'tokenEpoch', 1);
  await manager.delete(SessionEntity, { accountId });
  return affected === 1;
}

function toListed(session: SessionEntity): ListedSession {
  const { id, createdAt, lastSeenAt, expiresAt, method, clientName, clientPlatform, address } =
    session;
  return {
    id,
    createdAt: createdAt.getTime(),
    lastSeenAt: lastSeenAt.getTime(),
    expiresAt: expiresAt.getTime(),
    method,
    clientName,
    clientPlatform,
    address,
  };
}

/** The accounts of these rows, for each login that was asked for. @returns null where there is none */
export function inOrderOf(
  asked: readonly { readonly session: NewSession }[],
  rows: readonly LoggedInRow[],
): (LoggedInAccount | null)[] {
  const found = new Map(rows.map(({ sessionId, ...account }) => [sessionId, account]));
  return asked.map(({ session }) => found.get(session.id) ?? null);
}

async function logInAll(
  query: Query,
  sql: string,
  asked: readonly Asked[],
): Promise<(LoggedInAccount | null)[]> {
  const rows = await query<LoggedInRow>(sql, [
    ...sessionParameters(asked.map(({ session }) => session)),
    asked.map(({ key }) => key),
  ]);
  return inOrderOf(asked, rows);
}

async function logInOne(query: Query, sql: string, asked: Asked): Promise<LoggedInAccount | null> {
  const [account] = await logInAll(query, sql, [asked]);
  return account ?? null;
}
