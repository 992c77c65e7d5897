import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { MAX_SESSIONS } from '../../policy/admission/access.js';
import type { AuditEvent, AuditKind } from '../../policy/audit-event.js';
import type { CertificateRecord } from '../../policy/certificate/certificate-record.js';
import { batched } from '../batched.js';
import { Database, type Query } from '../database.js';
import { AccountEntity } from '../entities/account.entity.js';
import { SessionEntity } from '../entities/session.entity.js';
import { inMilliseconds, type InMilliseconds } from '../milliseconds.js';
import { accountRow } from '../account-row.js';
import { insertAuditEvents } from './audit.repository.js';

/** What a login stores of itself. Times are in whole seconds where the token repeats them. */
export interface NewSession {
  /** UUID; the `jti` of the token. */
  readonly id: string;
  /** `key_challenge`, `mtls`, `device` or a provider's id. */
  readonly method: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly clientName: string | null;
  readonly clientPlatform: string | null;
  readonly address: string | null;
  /** {@link hashOfProviderSession}; null = the login was part of none. */
  readonly providerSession: Buffer | null;
  /** The certificate that was shown; null = none. */
  readonly certificate: CertificateRecord | null;
}

/** Under which a session is found again when its provider ends its own: of bounded length. */
export function hashOfProviderSession(provider: string, session: string): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([provider, session]))
    .digest();
}

const SESSION_COLUMNS = `"session_id", "method", "at", "until", "client_name", "client_platform", "address", "provider_session", "shown"`;
const SESSION_TYPES = [
  ...['uuid', 'text', 'timestamptz', 'timestamptz'],
  ...['text', 'text', 'text', 'bytea', 'jsonb'],
];

/** One array a column, for {@link newSessions}. */
export function sessionParameters(sessions: readonly NewSession[]): unknown[][] {
  return [
    sessions.map(({ id }) => id),
    sessions.map(({ method }) => method),
    sessions.map(({ createdAt }) => createdAt),
    sessions.map(({ expiresAt }) => expiresAt),
    sessions.map(({ clientName }) => clientName),
    sessions.map(({ clientPlatform }) => clientPlatform),
    sessions.map(({ address }) => address),
    sessions.map(({ providerSession }) => providerSession),
    sessions.map(({ certificate }) => certificate && JSON.stringify(certificate)),
  ];
}

/**
 * A relation of the sessions to make, from the parameters `$first` on.
 *
 * @param more types of further columns by their names, as the parameters after those
 */
export function newSessions(first: number, more: Readonly<Record<string, string>> = {}): string {
  const types = [...SESSION_TYPES, ...Object.values(more)];
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
  const columns = [SESSION_COLUMNS, ...Object.keys(more).map((name) => `"${name}"`)].join(', ');
  return `unnest(${arrays}) AS "asked" (${columns})`;
}

/** Live sessions of the account in `found`, and those of other logins at the same moment. */
export const SESSION_COUNT = `
  ((SELECT count(*) FROM "session" WHERE "session"."account_id" = "found"."id")
    + count(*) OVER (PARTITION BY "id") - 1)::int`;

/**
 * Parts of a `WITH` that store the session of each row of `source` and its audit events: every
 * login's own statement ends with them.
 *
 * @param source a relation with the columns of {@link newSessions}, and `id` and `token_epoch` of
 *   the account
 * @param kinds of the events, in their order
 */
export function sessionsFrom(source: string, kinds: readonly AuditKind[] = ['logged-in']): string {
  return `
  "begun" AS (
    INSERT INTO "session" ("id", "account_id", "token_epoch", "created_at", "last_seen_at",
      "expires_at", "method", "client_name", "client_platform", "address", "provider_session",
      "certificate")
    SELECT "session_id", "id", "token_epoch", "at", "at", "until", "method", "client_name",
      "client_platform", "address", "provider_session", "shown"
    FROM ${source}),
  "logged" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "session_id",
      "address")
    SELECT "at", "kind", 'user', "id", "method", "session_id", "address"
    FROM ${source}, unnest(ARRAY[${kinds.map((kind) => `'${kind}'`).join(', ')}]) AS "kind")`;
}

/** The account that a login found. */
export interface LoggedInAccount {
  readonly id: string;
  /** Then no session was made. */
  readonly isDisabled: boolean;
  /** Live sessions that the account had before, and those of other logins at the same moment. */
  readonly sessions: number;
}

const LISTED = [
  ...(['id', 'createdAt', 'lastSeenAt', 'expiresAt'] as const),
  ...(['method', 'clientName', 'clientPlatform', 'address'] as const),
];

/** A live session as its account sees it. Times are Unix milliseconds. */
export type ListedSession = InMilliseconds<Pick<SessionEntity, (typeof LISTED)[number]>>;

/** The use of an account, by its live sessions. */
export interface SessionActivityFacts {
  readonly sessions: number;
  /** Unix milliseconds. */
  readonly lastSeenAt: number;
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
      .select(LISTED.map((name) => `session.${name}`))
      .innerJoin(
        AccountEntity,
        'account',
        'account.id = session.accountId AND account.tokenEpoch = session.tokenEpoch',
      )
      .where({ accountId, expiresAt: MoreThan(now) })
      .orderBy({ 'session.createdAt': 'DESC', 'session.id': 'ASC' })
      .getMany();
    return sessions.map(inMilliseconds);
  }

  /** How many sessions of each account are live, and when one was last used; for those with any. */
  async activityOf(
    accountIds: readonly string[],
    now: Date,
  ): Promise<Map<string, SessionActivityFacts>> {
    const rows = await this.database.query<{ id: string; sessions: number; lastSeenAt: Date }>(
      `SELECT "account"."id", count(*)::int AS "sessions", max("last_seen_at") AS "lastSeenAt"
       FROM "account" JOIN "session" ON "session"."account_id" = "account"."id"
         AND "session"."token_epoch" = "account"."token_epoch"
       WHERE "account"."id" = ANY($1) AND "expires_at" > $2 GROUP BY "account"."id"`,
      [accountIds, now],
    );
    return new Map(
      rows.map(({ id, sessions, lastSeenAt }) => [
        id,
        { sessions, lastSeenAt: lastSeenAt.getTime() },
      ]),
    );
  }

  /**
   * Ends one session of the account.
   *
   * @param by who ends it, and an administrator's reason
   * @returns whether it was there
   */
  end(
    accountId: string,
    sessionId: string,
    by: Pick<AuditEvent, 'actor' | 'reason'>,
    now: Date,
  ): Promise<boolean> {
    return this.database.transaction(async (query) => {
      const { affected } = await query.manager.delete(SessionEntity, { id: sessionId, accountId });
      if (affected === 1) {
        const event: AuditEvent = { kind: 'token-revoked', accountId, sessionId, ...by };
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
