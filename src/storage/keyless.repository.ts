import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { LinkedIdentity } from '../policy/external-link.js';
import type { KeyMode } from '../policy/storage-policy.js';
import type { AccountForLogin } from './account.repository.js';
import { Database, type Query } from './database.js';
import { IdentityCredentials } from './identity-credentials.js';
import type { ProvenIdentity } from './identity.repository.js';

/** An identity with the account that it logs in to. */
export interface IdentityAccount {
  readonly account: AccountForLogin;
  readonly keyMode: KeyMode;
  readonly identity: LinkedIdentity;
}

const FIND = `
  SELECT "account_id" AS "accountId", "subject", "login", "eligibility_status" AS "status",
    "eligibility_checked_at" AS "checkedAt", "key_mode" AS "keyMode",
    "token_epoch" AS "tokenEpoch", "disabled_at" IS NOT NULL AS "isDisabled"
  FROM "identity" JOIN "account" ON "account"."id" = "identity"."account_id"
  WHERE "provider" = $1 AND "subject" = $2`;

/**
 * The identity decides who makes the account: of any number of first logins one inserts it, and the
 * others wait for that one and insert nothing. Foreign keys are checked when both rows are there.
 */
const CREATE = `
  WITH "linked" AS (
    INSERT INTO "identity" ("provider", "subject", "login", "facts", "credentials",
      "eligibility_status", "eligibility_checked_at", "eligibility_next_check_at",
      "account_id", "id", "connected_at")
    VALUES ($1, $2, $3, $4, $5, 'eligible', $6, $7, $8, $9, $10)
    ON CONFLICT ("provider", "subject") DO NOTHING
    RETURNING "account_id"),
  "created" AS (
    INSERT INTO "account" ("id", "created_at", "key_mode", "public_key", "encryption_mode")
    SELECT "account_id", $10, 'keyless', NULL, 'plain' FROM "linked"
    RETURNING "id", "token_epoch", "disabled_at"),
  "audited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider")
    SELECT $10, "kind", 'user', "id", $1
    FROM "created", unnest(ARRAY['signed-up', 'identity-linked']) AS "kind")
  SELECT "id", "token_epoch" AS "tokenEpoch", "disabled_at" IS NOT NULL AS "isDisabled"
  FROM "created"`;

/** Accounts that an identity alone opens. */
@Injectable()
export class KeylessRepository {
  constructor(
    private readonly database: Database,
    private readonly credentials: IdentityCredentials,
  ) {}

  /** By one statement, without a lock. */
  find(provider: string, subject: string): Promise<IdentityAccount | null> {
    return findBy(this.database.query, FIND, provider, subject);
  }

  /** Locks the identity until the transaction ends. */
  lock(query: Query, provider: string, subject: string): Promise<IdentityAccount | null> {
    return findBy(query, `${FIND} FOR UPDATE OF "identity"`, provider, subject);
  }

  /**
   * Makes the account of an identity that has none, with its identity, by one statement.
   *
   * @returns null when another first login was faster: it is committed by then
   */
  async create(
    query: Query,
    { provider, subject, facts, credentials, checkedAt, nextCheckAt }: ProvenIdentity,
    now: Date,
  ): Promise<AccountForLogin | null> {
    const accountId = randomUUID();
    const [account] = await query<AccountForLogin>(CREATE, [
      provider,
      subject,
      facts.login,
      JSON.stringify(facts),
      this.credentials.seal(accountId, provider, credentials),
      checkedAt,
      nextCheckAt,
      accountId,
      randomUUID(),
      now,
    ]);
    return account ?? null;
  }
}

interface IdentityAccountRow {
  readonly accountId: string;
  readonly subject: string;
  readonly login: string | null;
  readonly status: LinkedIdentity['status'];
  readonly checkedAt: Date | null;
  readonly keyMode: KeyMode;
  readonly tokenEpoch: number;
  readonly isDisabled: boolean;
}

async function findBy(
  query: Query,
  sql: string,
  provider: string,
  identitySubject: string,
): Promise<IdentityAccount | null> {
  const [row] = await query<IdentityAccountRow>(sql, [provider, identitySubject]);
  if (row === undefined) {
    return null;
  }
  const { accountId, subject, login, status, checkedAt, keyMode, tokenEpoch, isDisabled } = row;
  return {
    account: { id: accountId, tokenEpoch, isDisabled },
    keyMode,
    identity: { accountId, subject, login, status, checkedAt: checkedAt?.getTime() ?? null },
  };
}
