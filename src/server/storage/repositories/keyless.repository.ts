import { Injectable } from '@nestjs/common';
import { Runtime } from '../../../common/runtime/runtime.js';
import type { EndEvent } from '../../../core/policy/audit-event.js';
import type { LinkedIdentity } from '../../../core/policy/eligibility/identity-link.js';
import type { KeyMode } from '../../../core/policy/operator-policy.js';
import type { AccountForLogin } from './account.repository.js';
import { batched } from '../batched.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../database.service.js';
import { IdentityCredentialsService } from '../sealing/identity-credentials.service.js';
import type { ProvenIdentity } from './identity.repository.js';
import { holdAccounts } from '../account-row.js';
import { endSessions, LOGINS_BY } from './session-end.repository.js';
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

export interface IdentityAccount {
  readonly account: AccountForLogin;
  readonly keyMode: KeyMode;
  readonly identity: LinkedIdentity;
  /** Fingerprint of the last presented certificate, hex; null = unknown. */
  readonly fingerprint: string | null;
}

interface IdentityKey {
  readonly provider: string;
  readonly subject: string;
}

/** A login without new facts about its identity: it has no issuer and no credentials. */
interface PlainLogin extends IdentityKey {
  readonly login: string | null;
  /** Fingerprint of the presented certificate, hex; null = unknown. */
  readonly fingerprint: string | null;
  /** An identity that was confirmed before this time must be confirmed again. */
  readonly freshAfter: Date;
  readonly session: NewSession;
}

const FINGERPRINT = `"certificate" #>> '{facts,fingerprint}'`;

/** Locks the identity: a transaction that unlinks it waits, and then ends the session, or is waited for. */
const LOG_IN = `
  WITH "found" AS MATERIALIZED (
    SELECT "new_session".*, "account"."id", "token_epoch"
    FROM ${newSessions(1, { provider: 'text', subject: 'text', login: 'text', fresh_after: 'timestamptz', fingerprint: 'text' })}
    JOIN "identity" USING ("provider", "subject")
    JOIN "account" ON "account"."id" = "identity"."account_id"
    WHERE "key_mode" = 'keyless' AND "disabled_at" IS NULL AND "eligibility_status" = 'eligible'
      AND "identity"."login" IS NOT DISTINCT FROM "new_session"."login"
      AND "eligibility_checked_at" > "new_session"."fresh_after"
      AND ${FINGERPRINT} IS NOT DISTINCT FROM "new_session"."fingerprint"
    FOR KEY SHARE OF "identity", "account"),
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
 * The unique identity decides which of concurrent first logins creates the account; the others wait
 * for it and insert nothing. Foreign keys are checked when both rows exist.
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

@Injectable()
export class KeylessRepository {
  private readonly logInTogether: (login: PlainLogin) => Promise<LoggedInAccount | null>;

  constructor(
    database: DatabaseService,
    private readonly credentials: IdentityCredentialsService,
    private readonly runtime: Runtime,
  ) {
    this.logInTogether = batched(
      runtime,
      (logins: readonly PlainLogin[]) => logInAll(database, logins),
      { maxKeys: 500 },
    );
  }

  /**
   * Signs in without new facts, by one statement for all such simultaneous logins.
   * @returns null where a fact is new, or the account needs a full login
   */
  logIn(login: PlainLogin): Promise<LoggedInAccount | null> {
    // PostgreSQL cannot store such text, and would reject the other logins of the statement as
    // well.
    const isStorable = ![login.subject, login.login ?? ''].some((text) => text.includes('\0'));
    return isStorable ? this.logInTogether(login) : Promise.resolve(null);
  }

  /**
   * Ends the account's sessions that began with one login method.
   * @returns the stored audit events
   */
  async endSessions(
    tx: Transaction,
    accountId: string,
    provider: string,
    now: Date,
  ): Promise<EndEvent[]> {
    await holdAccounts(tx, [accountId]);
    const sessions = { where: LOGINS_BY, parameters: [accountId, provider] };
    return endSessions(tx, { sessions, grants: null }, { actor: 'provider', provider }, now);
  }

  async lock(tx: Transaction, key: IdentityKey): Promise<IdentityAccount | null> {
    const [row] = await tx.query<IdentityAccountRow>(LOCK, [key.provider, key.subject]);
    if (row === undefined) {
      return null;
    }
    const { keyMode, isDisabled, fingerprint, ...identity } = row;
    return { account: { id: row.accountId, isDisabled }, keyMode, fingerprint, identity };
  }

  /** @returns the account's id; null when a concurrent first login has created it */
  async create(tx: Transaction, proven: ProvenIdentity, now: Date): Promise<string | null> {
    const { provider, subject, authority, facts, credentials, checkedAt, firstCheckAt } = proven;
    const { certificate } = proven;
    const { random } = this.runtime;
    const accountId = random.uuid();
    const [account] = await tx.query<{ id: string }>(CREATE, [
      provider,
      subject,
      facts.login,
      JSON.stringify(facts),
      this.credentials.seal(accountId, provider, credentials),
      checkedAt,
      firstCheckAt,
      accountId,
      random.uuid(),
      now,
      authority?.issuer ?? null,
      certificate === null ? null : JSON.stringify(certificate),
    ]);
    return account?.id ?? null;
  }
}

async function logInAll(
  runner: SqlRunner,
  logins: readonly PlainLogin[],
): Promise<(LoggedInAccount | null)[]> {
  const rows = await runner.query<LoggedInRow>(LOG_IN, [
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
