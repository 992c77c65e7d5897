import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Eligibility, EligibilityStatus } from '../policy/eligibility-status.js';
import type { AccountMode, KeyMode } from '../policy/storage-policy.js';
import { batched } from './batched.js';
import { Database, type Query } from './database.js';

/** What every login needs to know of an account. */
export interface AccountForLogin {
  readonly id: string;
  readonly tokenEpoch: number;
  readonly isDisabled: boolean;
}

export interface IdentityProfile {
  readonly provider: string;
  readonly login: string | null;
  readonly eligibility: Eligibility;
  readonly connectedAt: number;
}

export interface AccountProfile {
  readonly id: string;
  readonly createdAt: number;
  readonly keyMode: KeyMode;
  readonly encryptionMode: AccountMode;
  readonly identities: readonly IdentityProfile[];
}

/** Nobody notices a pause this short, and in a rush of connections dozens share a statement. */
const UPDATE_SEQS = { waitMs: 5, maxKeys: 500 };
const LOGINS = { maxKeys: 500 };

/** The columns of an {@link AccountForLogin}. */
export const FOR_LOGIN = `"id", "token_epoch" AS "tokenEpoch", "disabled_at" IS NOT NULL AS "isDisabled"`;

@Injectable()
export class AccountRepository {
  private readonly findKeyed = batched(
    (publicKeys: readonly Buffer[]) => findByPublicKeys(this.database.query, publicKeys),
    LOGINS,
  );

  /**
   * The number of the account's newest update, by one statement for all who ask within a few
   * milliseconds; undefined when the account is gone.
   */
  readonly updateSeq = batched(async (accountIds: readonly string[]) => {
    const rows = await this.database.query<{ id: string; seq: string }>(
      `SELECT "id", "update_seq" AS "seq" FROM "account" WHERE "id" = ANY($1)`,
      [accountIds],
    );
    const seqs = new Map(rows.map(({ id, seq }) => [id, Number(seq)]));
    return accountIds.map((accountId) => seqs.get(accountId));
  }, UPDATE_SEQS);

  constructor(private readonly database: Database) {}

  /**
   * By one statement for all who ask at the same moment.
   *
   * @param query of the transaction that it belongs to, if any
   */
  async findByPublicKey(publicKey: Buffer, query?: Query): Promise<AccountForLogin | null> {
    if (query === undefined) {
      return this.findKeyed(publicKey);
    }
    const [account] = await findByPublicKeys(query, [publicKey]);
    return account ?? null;
  }

  /**
   * @param query of the transaction that it belongs to, if any
   * @returns null when another login of the same key was first
   */
  async createKeyed(
    publicKey: Buffer,
    encryptionMode: AccountMode,
    now: Date,
    query: Query = this.database.query,
  ): Promise<AccountForLogin | null> {
    const [account] = await query<AccountForLogin>(
      `WITH "created" AS (
         INSERT INTO "account" ("id", "created_at", "key_mode", "public_key", "encryption_mode")
         VALUES ($1, $2, 'keyed', $3, $4)
         ON CONFLICT ("public_key") DO NOTHING
         RETURNING ${FOR_LOGIN}),
       "audited" AS (
         INSERT INTO "audit_event" ("at", "kind", "actor", "account_id")
         SELECT $2, 'signed-up', 'user', "id" FROM "created")
       SELECT * FROM "created"`,
      [randomUUID(), now, publicKey, encryptionMode],
    );
    return account ?? null;
  }

  /** Whether any device-key account exists. */
  async hasKeyed(): Promise<boolean> {
    const rows = await this.database.query(
      `SELECT 1 FROM "account" WHERE "public_key" IS NOT NULL LIMIT 1`,
    );
    return rows.length > 0;
  }

  /** Revokes every token handed out so far. */
  async revokeAllTokens(accountId: string, now: Date): Promise<void> {
    await this.database.query(
      `WITH "revoked" AS (
         UPDATE "account" SET "token_epoch" = "token_epoch" + 1 WHERE "id" = $1 RETURNING "id")
       INSERT INTO "audit_event" ("at", "kind", "actor", "account_id")
       SELECT $2, 'all-tokens-revoked', 'user', "id" FROM "revoked"`,
      [accountId, now],
    );
  }

  async revokeToken(accountId: string, tokenId: string, expiresAt: Date, now: Date): Promise<void> {
    await this.database.query(
      `WITH "revoked" AS (
         INSERT INTO "token_revocation" ("token_id", "account_id", "expires_at")
         VALUES ($1, $2, $3) ON CONFLICT ("token_id") DO NOTHING RETURNING "account_id")
       INSERT INTO "audit_event" ("at", "kind", "actor", "account_id")
       SELECT $4, 'token-revoked', 'user', "account_id" FROM "revoked"`,
      [tokenId, accountId, expiresAt, now],
    );
  }

  async profile(accountId: string): Promise<AccountProfile | null> {
    const rows = await this.database.query<ProfileRow>(
      `SELECT "account"."created_at" AS "createdAt", "key_mode" AS "keyMode",
         "encryption_mode" AS "encryptionMode", "provider", "login", "connected_at" AS "connectedAt",
         "eligibility_status" AS "status", "eligibility_reason" AS "reason",
         "eligibility_checked_at" AS "checkedAt", "eligibility_next_check_at" AS "nextCheckAt"
       FROM "account" LEFT JOIN "identity" ON "identity"."account_id" = "account"."id"
       WHERE "account"."id" = $1 ORDER BY "connected_at"`,
      [accountId],
    );
    const [first] = rows;
    if (first === undefined) {
      return null;
    }
    return {
      id: accountId,
      createdAt: first.createdAt.getTime(),
      keyMode: first.keyMode,
      encryptionMode: first.encryptionMode,
      identities: rows.flatMap(toIdentityProfile),
    };
  }
}

async function findByPublicKeys(
  query: Query,
  publicKeys: readonly Buffer[],
): Promise<(AccountForLogin | null)[]> {
  const rows = await query<AccountForLogin & { readonly publicKey: Buffer }>(
    `SELECT ${FOR_LOGIN}, "public_key" AS "publicKey" FROM "account" WHERE "public_key" = ANY($1)`,
    [publicKeys],
  );
  const accounts = new Map(
    rows.map(({ publicKey, ...account }) => [publicKey.toString('latin1'), account]),
  );
  return publicKeys.map((publicKey) => accounts.get(publicKey.toString('latin1')) ?? null);
}

interface ProfileRow {
  readonly createdAt: Date;
  readonly keyMode: KeyMode;
  readonly encryptionMode: AccountMode;
  readonly provider: string | null;
  readonly login: string | null;
  readonly connectedAt: Date | null;
  readonly status: EligibilityStatus;
  readonly reason: string | null;
  readonly checkedAt: Date | null;
  readonly nextCheckAt: Date | null;
}

function toIdentityProfile(row: ProfileRow): IdentityProfile[] {
  if (row.provider === null || row.connectedAt === null) {
    return [];
  }
  return [
    {
      provider: row.provider,
      login: row.login,
      eligibility: {
        status: row.status,
        reason: row.reason,
        checkedAt: row.checkedAt?.getTime() ?? null,
        nextCheckAt: row.nextCheckAt?.getTime() ?? null,
      },
      connectedAt: row.connectedAt.getTime(),
    },
  ];
}
