import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { LinkedIdentity } from '../../policy/eligibility/identity-link.js';
import type { KeyMode } from '../../policy/operator-policy.js';
import type { AccountForLogin } from './account.repository.js';
import { batched } from '../batched.js';
import { Database, type Query } from '../database.js';
import { IdentityCredentials } from '../sealing/content-at-rest.js';
import type { ProvenIdentity } from './identity.repository.js';
import {
  inOrderOf,
  newSessions,
  SESSION_COUNT,
  sessionParameters,
  sessionsFrom,
  type LoggedInAccount,
  type LoggedInRow,
  type NewSession,
} from './session.repository.js';

/** An identity with the account that it logs in to. */
export interface IdentityAccount {
  readonly account: AccountForLogin;
  readonly keyMode: KeyMode;
  readonly identity: LinkedIdentity;
  /** Of the certificate that was shown last, hex; null = not known. */
  readonly fingerprint: string | null;
}

interface IdentityKey {
  readonly provider: string;
  readonly subject: string;
}

/** A login of which nothing new is known: it has no issuer, and brings no credentials. */
export interface PlainLogin extends IdentityKey {
  readonly login: string | null;
  /** Of the certificate that was shown, hex; null = not known. */
  readonly fingerprint: string | null;
  /** An identity that was confirmed before is to be confirmed again. */
  readonly freshAfter: Date;
  readonly session: NewSession;
}

const FINGERPRINT = `"certificate" #>> '{facts,fingerprint}'`;

const LOG_IN = `
  WITH "found" AS MATERIALIZED (
    SELECT "asked".*, "account"."id", "token_epoch"
    FROM ${newSessions(1, { provider: 'text', subject: 'text', login: 'text', fresh_after: 'timestamptz', fingerprint: 'text' })}
    JOIN "identity" USING ("provider", "subject")
    JOIN "account" ON "account"."id" = "identity"."account_id"
    WHERE "key_mode" = 'keyless' AND "disabled_at" IS NULL AND "eligibility_status" = 'eligible'
      AND "identity"."login" IS NOT DISTINCT FROM "asked"."login"
      AND "eligibility_checked_at" > "asked"."fresh_after"
      AND ${FINGERPRINT} IS NOT DISTINCT FROM "asked"."fingerprint"),
  ${sessionsFrom('"found"')}
  SELECT "session_id" AS "sessionId", "id", false AS "isDisabled", ${SESSION_COUNT} AS "sessions"
  FROM "found"`;

const LOCK = `
  SELECT "subject", "account_id" AS "accountId", "issuer", "login",
    "eligibility_status" AS "status",
    extract(epoch FROM "eligibility_checked_at")::float8 * 1000 AS "checkedAt",
    ${FINGERPRINT} AS "fingerprint", "key_mode" AS "keyMode", "disabled_at" IS NOT NULL AS "isDisabled"
  FROM "identity" JOIN "account" ON "account"."id" = "identity"."account_id"
  WHERE "provider" = $1 AND "subject" = $2
  FOR UPDATE OF "identity"`;

/**
 * The identity decides who makes the account: of any number of first logins one inserts it, and the
 * others wait for that one and insert nothing. Foreign keys are checked when both rows are there.
 */
const CREATE = `
  WITH "linked" AS (
    INSERT INTO "identity" ("provider", "subject", "login", "facts", "credentials",
      "eligibility_status", "eligibility_checked_at", "eligibility_next_check_at",
      "account_id", "id", "connected_at", "issuer", "certificate")
    VALUES ($1, $2, $3, $4, $5, 'eligible', $6, $7, $8, $9, $10, $11, $12)
    ON CONFLICT ("provider", "subject") DO NOTHING
    RETURNING "account_id"),
  "created" AS (
    INSERT INTO "account" ("id", "created_at", "key_mode", "public_key", "encryption_mode")
    SELECT "account_id", $10, 'keyless', NULL, 'plain' FROM "linked"
    RETURNING "id"),
  "audited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider")
    SELECT $10, "kind", 'user', "id", $1
    FROM "created", unnest(ARRAY['signed-up', 'identity-linked']) AS "kind")
  SELECT "id" FROM "created"`;

/** Accounts that an identity alone opens. */
@Injectable()
export class KeylessRepository {
  private readonly logInTogether = batched(
    (logins: readonly PlainLogin[]) => logInAll(this.database.query, logins),
    { maxKeys: 500 },
  );

  constructor(
    private readonly database: Database,
    private readonly credentials: IdentityCredentials,
  ) {}

  /**
   * Logs in to the account of an identity of which nothing new is known, by one statement for all
   * such logins of the same moment.
   *
   * @returns null where something is new, or the account is not to be logged in to like this
   */
  logIn(login: PlainLogin): Promise<LoggedInAccount | null> {
    // PostgreSQL stores no such text, and would refuse the other logins with it.
    const isStorable = ![login.subject, login.login ?? ''].some((text) => text.includes('\0'));
    return isStorable ? this.logInTogether(login) : Promise.resolve(null);
  }

  /** Ends the account's sessions of one login method. @returns their ids */
  async endSessions(query: Query, accountId: string, method: string): Promise<string[]> {
    const ended = await query<{ id: string }>(
      `WITH "ended" AS (
         DELETE FROM "session" WHERE "account_id" = $1 AND "method" = $2 RETURNING "id"),
       "audited" AS (
         INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "session_id")
         SELECT now(), 'token-revoked', 'provider', $1, $2, "id" FROM "ended")
       SELECT "id" FROM "ended"`,
      [accountId, method],
    );
    return ended.map(({ id }) => id);
  }

  /** Locks the identity until the transaction ends. */
  async lock(query: Query, key: IdentityKey): Promise<IdentityAccount | null> {
    const [row] = await query<IdentityAccountRow>(LOCK, [key.provider, key.subject]);
    if (row === undefined) {
      return null;
    }
    const { keyMode, isDisabled, fingerprint, ...identity } = row;
    return { account: { id: row.accountId, isDisabled }, keyMode, fingerprint, identity };
  }

  /**
   * Makes the account of an identity that has none, with its identity, by one statement.
   *
   * @returns its id; null when another first login was faster: it is committed by then
   */
  async create(query: Query, proven: ProvenIdentity, now: Date): Promise<string | null> {
    const { provider, subject, authority, facts, credentials, checkedAt, firstCheckAt } = proven;
    const { certificate } = proven;
    const accountId = randomUUID();
    const [account] = await query<{ id: string }>(CREATE, [
      provider,
      subject,
      facts.login,
      JSON.stringify(facts),
      this.credentials.seal(accountId, provider, credentials),
      checkedAt,
      firstCheckAt,
      accountId,
      randomUUID(),
      now,
      authority?.issuer ?? null,
      certificate === null ? null : JSON.stringify(certificate),
    ]);
    return account?.id ?? null;
  }
}

async function logInAll(
  query: Query,
  logins: readonly PlainLogin[],
): Promise<(LoggedInAccount | null)[]> {
  const rows = await query<LoggedInRow>(LOG_IN, [
    ...sessionParameters(logins.map(({ session }) => session)),
    logins.map(({ provider }) => provider),
    logins.map(({ subject }) => subject),
    logins.map(({ login }) => login),
    logins.map(({ freshAfter }) => freshAfter),
    logins.map(({ fingerprint }) => fingerprint),
  ]);
  return inOrderOf(logins, rows);
}

interface IdentityAccountRow extends LinkedIdentity {
  readonly fingerprint: string | null;
  readonly keyMode: KeyMode;
  readonly isDisabled: boolean;
}
