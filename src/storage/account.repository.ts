import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Eligibility, EligibilityStatus } from '../policy/eligibility-status.js';
import type { AccountMode, KeyMode } from '../policy/storage-policy.js';
import { batched } from './batched.js';
import { Database, type Query } from './database.js';
import { newSessions, sessionParameters, sessionsFrom, type NewSession } from './session-sql.js';

/** What a login needs to know of an account before it stores anything. */
export interface AccountForLogin {
  readonly id: string;
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

const CREATE_KEYED = `
  WITH "created" AS (
    INSERT INTO "account" ("id", "created_at", "key_mode", "public_key", "encryption_mode")
    VALUES ($1, $2, 'keyed', $3, $4)
    ON CONFLICT ("public_key") DO NOTHING
    RETURNING "id", "token_epoch"),
  "served" AS (SELECT * FROM "created", ${newSessions(5)}),
  ${sessionsFrom('"served"', ['signed-up', 'logged-in'])}
  SELECT "id" FROM "created"`;

@Injectable()
export class AccountRepository {
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
   * Makes the account of a device key with its first session, by one statement.
   *
   * @param query of the transaction that it belongs to, if any
   * @returns the account's id; null when another login of the same key was first
   */
  async createKeyed(
    publicKey: Buffer,
    encryptionMode: AccountMode,
    session: NewSession,
    query: Query = this.database.query,
  ): Promise<string | null> {
    const [account] = await query<{ id: string }>(CREATE_KEYED, [
      randomUUID(),
      session.createdAt,
      publicKey,
      encryptionMode,
      ...sessionParameters([session]),
    ]);
    return account?.id ?? null;
  }

  /** Whether any device-key account exists. */
  async hasKeyed(): Promise<boolean> {
    const rows = await this.database.query(
      `SELECT 1 FROM "account" WHERE "public_key" IS NOT NULL LIMIT 1`,
    );
    return rows.length > 0;
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
