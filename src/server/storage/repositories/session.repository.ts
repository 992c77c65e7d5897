import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, type Repository } from 'typeorm';
import { Runtime } from '../../../common/runtime/runtime.js';
import { sha256 } from '../../../common/sha256.js';
import { MAX_SESSIONS } from '../../../core/policy/admission/access.js';
import type { AuditKind } from '../../../core/policy/audit-event.js';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import { batched } from '../batched.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../database.service.js';
import { AccountEntity } from '../entities/account.entity.js';
import { SessionEntity } from '../entities/session.entity.js';
import { type InDates, inMilliseconds, type InMilliseconds } from '../milliseconds.js';
import { accountRow } from '../account-row.js';

/** A session to store. Times are in whole seconds where the token repeats them. */
export interface NewSession {
  /** UUID; the `jti` of the token. */
  readonly id: string;
  readonly method: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly clientName: string | null;
  readonly clientPlatform: string | null;
  readonly address: string | null;
  /** {@link hashOfProviderSession}; null = the login belongs to no provider session. */
  readonly providerSession: Buffer | null;
  readonly certificate: CertificateRecord | null;
  /** The earlier login that authenticated it; null = this login did. */
  readonly inherited: InheritedLogin | null;
}

/** The login at the start of a chain of sessions, each of which approved the next. */
interface InheritedLogin {
  readonly authenticatedAt: Date;
  readonly method: string;
}

/** Facts that a session passes on to the sessions that it approves. */
export interface VouchingSession extends Pick<
  NewSession,
  'expiresAt' | 'providerSession' | 'certificate'
> {
  readonly inherited: InheritedLogin;
}

/** The stored value of a provider's session id has a bounded length. */
export function hashOfProviderSession(provider: string, session: string): Buffer {
  return sha256(JSON.stringify([provider, session]));
}

const SESSION_COLUMNS = `"session_id", "method", "at", "until", "client_name", "client_platform", "address", "provider_session", "session_certificate", "authenticated_at", "authenticated_by"`;
const SESSION_TYPES =
  'uuid text timestamptz timestamptz text text text bytea jsonb timestamptz text'.split(' ');

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
    sessions.map(({ inherited }) => inherited?.authenticatedAt ?? null),
    sessions.map(({ inherited }) => inherited?.method ?? null),
  ];
}

/**
 * SQL of the sessions to store, from the parameters `$first` on.
 * @param more types of further columns by their names
 */
export function newSessions(first: number, more: Readonly<Record<string, string>> = {}): string {
  const types = [...SESSION_TYPES, ...Object.values(more)];
  const arrays = types.map((type, index) => `$${first + index}::${type}[]`).join(', ');
  const columns = [SESSION_COLUMNS, ...Object.keys(more).map((name) => `"${name}"`)].join(', ');
  return `unnest(${arrays}) AS "new_session" (${columns})`;
}

/** A session that authenticated itself stores neither. */
export const AUTHENTICATED_AT = `COALESCE("session"."authenticated_at", "session"."created_at")`;
export const AUTHENTICATED_BY = `COALESCE("session"."authenticated_by", "session"."method")`;

/** Sessions of the account in `found`, including those of simultaneous logins. */
export const SESSION_COUNT = `
  ((SELECT count(*) FROM "session" WHERE "session"."account_id" = "found"."id")
    + count(*) OVER (PARTITION BY "id") - 1)::int`;

/**
 * Parts of a `WITH` that store the session of each row of `source` and its audit events.
 * @param source has the columns of {@link newSessions}, and `id` and `token_epoch` of the account
 * @param kinds of the events, in their order
 */
export function sessionsFrom(source: string, kinds: readonly AuditKind[] = ['logged-in']): string {
  return `
  "inserted_session" AS (
    INSERT INTO "session" ("id", "account_id", "token_epoch", "created_at", "last_seen_at",
      "expires_at", "method", "client_name", "client_platform", "address", "provider_session",
      "certificate", "authenticated_at", "authenticated_by")
    SELECT "session_id", "id", "token_epoch", "at", "at", "until", "method", "client_name",
      "client_platform", "address", "provider_session", "session_certificate",
      "authenticated_at", "authenticated_by"
    FROM ${source}),
  "inserted_event" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "session_id",
      "address")
    SELECT "at", "kind", 'user', "id", "method", "session_id", "address"
    FROM ${source}, unnest(ARRAY[${kinds.map((kind) => `'${kind}'`).join(', ')}]) AS "kind")`;
}

export interface LoggedInAccount {
  readonly id: string;
  readonly isDisabled: boolean;
  /** Live sessions that the account had before, including those of simultaneous logins. */
  readonly sessions: number;
}

const LISTED = [
  ...(['id', 'createdAt', 'lastSeenAt', 'expiresAt'] as const),
  ...(['method', 'clientName', 'clientPlatform', 'address'] as const),
];

/** Times are Unix milliseconds. */
type ListedSession = InMilliseconds<Pick<SessionEntity, (typeof LISTED)[number]>>;

interface SessionActivityFacts {
  readonly sessions: number;
  readonly lastSeenAt: number;
}

interface Login {
  readonly key: string | Buffer;
  readonly session: NewSession;
}

/**
 * SQL that signs in to the accounts that `column` finds. An account that is being deleted has none, once that is
 * committed: without the lock, its foreign key would fail the other logins of the statement as well.
 */
const logInBy = (column: 'id' | 'public_key', type: 'uuid' | 'bytea'): string => `
  WITH "found" AS MATERIALIZED (
    SELECT "new_session".*, "account"."id", "token_epoch", "disabled_at" IS NOT NULL AS "is_disabled"
    FROM ${newSessions(1, { key: type })}
    JOIN "account" ON "account"."${column}" = "new_session"."key"
    FOR KEY SHARE OF "account"),
  "enabled" AS (SELECT * FROM "found" WHERE NOT "is_disabled"),
  ${sessionsFrom('"enabled"')}
  SELECT "session_id" AS "sessionId", "id", "is_disabled" AS "isDisabled",
    ${SESSION_COUNT} AS "sessions"
  FROM "found"`;

const BY_ID = logInBy('id', 'uuid');
const BY_KEY = logInBy('public_key', 'bytea');

/** Locks accounts first, as all that ends sessions, and skips rows whose use is being stored. Grants of programs stay. */
const END_SURPLUS = `
  WITH "held" AS MATERIALIZED (
    SELECT "id" FROM "account" WHERE "id" = ANY($1) ORDER BY "id" FOR NO KEY UPDATE),
  "surplus" AS (
    SELECT "id" FROM (
      SELECT "id", row_number() OVER (
        PARTITION BY "account_id" ORDER BY "last_seen_at" DESC, "id") AS "rank"
      FROM "session" WHERE "account_id" IN (SELECT "id" FROM "held")) AS "ranked"
    WHERE "rank" > $2),
  "locked" AS (
    SELECT "id" FROM "session" WHERE "id" IN (SELECT "id" FROM "surplus") FOR UPDATE SKIP LOCKED)
  DELETE FROM "session" WHERE "id" IN (SELECT "id" FROM "locked")
    AND set_config('gatehouse.keeps_grants', 'on', true) = 'on'
  RETURNING "id", "account_id" AS "accountId"`;

const LOGINS = { maxKeys: 500 };
/** Statements for the same accounts wait for each other: one after the other is faster than several. */
const SURPLUS = { maxKeys: 500, everyMs: 5 };

@Injectable()
export class SessionRepository {
  private readonly logInToId: (login: Login) => Promise<LoggedInAccount | null>;
  private readonly logInWithKey: (login: Login) => Promise<LoggedInAccount | null>;

  /** Ends the account's least recently used sessions beyond the limit. Returns their ids. */
  readonly endSurplus: (accountId: string) => Promise<string[]>;

  constructor(
    private readonly database: DatabaseService,
    @InjectRepository(SessionEntity) private readonly sessions: Repository<SessionEntity>,
    runtime: Runtime,
  ) {
    const logInBy = (sql: string) => (logins: readonly Login[]) => logInAll(database, sql, logins);
    this.logInToId = batched(runtime, logInBy(BY_ID), LOGINS);
    this.logInWithKey = batched(runtime, logInBy(BY_KEY), LOGINS);
    this.endSurplus = batched(runtime, (ids) => endSurplusOf(database, ids), SURPLUS);
  }

  /**
   * Stores the session of a login, by one statement for all simultaneous ones.
   * @throws AppError `token-revoked` when the account is deleted
   */
  async logInTo(
    accountId: string,
    session: NewSession,
    tx?: Transaction,
  ): Promise<LoggedInAccount> {
    const login = { key: accountId, session };
    return accountRow(
      await (tx === undefined ? this.logInToId(login) : logInOne(tx, BY_ID, login)),
    );
  }

  /** @returns null when no account has the key */
  logInByKey(
    publicKey: Buffer,
    session: NewSession,
    tx?: Transaction,
  ): Promise<LoggedInAccount | null> {
    const login = { key: publicKey, session };
    return tx === undefined ? this.logInWithKey(login) : logInOne(tx, BY_KEY, login);
  }

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

  /** Returns the count of live sessions and the time of the last use of each of these accounts. */
  async activityOf(
    accountIds: readonly string[],
    now: Date,
  ): Promise<Map<string, SessionActivityFacts>> {
    type Row = InDates<SessionActivityFacts, 'lastSeenAt'> & { readonly id: string };
    const rows = await this.database.query<Row>(
      `SELECT "account"."id", count("session"."id")::int AS "sessions",
         GREATEST(max("session"."last_seen_at"), "account"."last_seen_at",
           "account"."created_at") AS "lastSeenAt"
       FROM "account" LEFT JOIN "session" ON "session"."account_id" = "account"."id"
         AND "session"."token_epoch" = "account"."token_epoch" AND "expires_at" > $2
       WHERE "account"."id" = ANY($1) GROUP BY "account"."id"`,
      [accountIds, now],
    );
    return new Map(rows.map(({ id, ...facts }) => [id, inMilliseconds(facts)]));
  }

  async rename(accountId: string, id: string, clientName: string, now: Date): Promise<boolean> {
    const live = { id, accountId, expiresAt: MoreThan(now) };
    const { affected } = await this.sessions.update(live, { clientName });
    return affected === 1;
  }

  /**
   * Stores when sessions and their accounts were last used. It skips locked accounts, so that
   * neither transaction waits for the other: their next use is stored.
   * @param seen Unix milliseconds by session id, bounded
   */
  async touch(seen: readonly (readonly [id: string, at: number])[]): Promise<void> {
    await this.database.query(
      `WITH "seen" AS MATERIALIZED (
         SELECT * FROM unnest($1::uuid[], $2::timestamptz[]) AS "seen" ("id", "at")),
       "used" AS (
         UPDATE "session" SET "last_seen_at" = "seen"."at" FROM "seen"
         WHERE "session"."id" = "seen"."id" AND "last_seen_at" < "seen"."at"),
       "latest" AS (
         SELECT "account_id", max("seen"."at") AS "at"
         FROM "seen" JOIN "session" ON "session"."id" = "seen"."id" GROUP BY "account_id"),
       "free" AS MATERIALIZED (
         SELECT "account"."id", "latest"."at"
         FROM "latest" JOIN "account" ON "account"."id" = "latest"."account_id"
         WHERE "last_seen_at" IS NULL OR "last_seen_at" < "latest"."at"
         FOR NO KEY UPDATE OF "account" SKIP LOCKED)
       UPDATE "account" SET "last_seen_at" = "free"."at" FROM "free"
       WHERE "account"."id" = "free"."id"`,
      [seen.map(([id]) => id), seen.map(([, at]) => new Date(at))],
    );
  }
}

export interface LoggedInRow extends LoggedInAccount {
  readonly sessionId: string;
}

/** Returns the accounts in the order of the logins; null = no account. */
export function inOrderOf(
  logins: readonly { readonly session: NewSession }[],
  rows: readonly LoggedInRow[],
): (LoggedInAccount | null)[] {
  const found = new Map(rows.map(({ sessionId, ...account }) => [sessionId, account]));
  return logins.map(({ session }) => found.get(session.id) ?? null);
}

async function endSurplusOf(runner: SqlRunner, accountIds: readonly string[]): Promise<string[][]> {
  const ended = await runner.query<{ id: string; accountId: string }>(END_SURPLUS, [
    [...new Set(accountIds)],
    MAX_SESSIONS,
  ]);
  return accountIds.map((owner) =>
    ended.flatMap(({ id, accountId }) => (accountId === owner ? [id] : [])),
  );
}

async function logInAll(
  runner: SqlRunner,
  sql: string,
  logins: readonly Login[],
): Promise<(LoggedInAccount | null)[]> {
  const rows = await runner.query<LoggedInRow>(sql, [
    ...sessionParameters(logins.map(({ session }) => session)),
    logins.map(({ key }) => key),
  ]);
  return inOrderOf(logins, rows);
}

async function logInOne(
  runner: SqlRunner,
  sql: string,
  login: Login,
): Promise<LoggedInAccount | null> {
  const [account] = await logInAll(runner, sql, [login]);
  return account ?? null;
}
