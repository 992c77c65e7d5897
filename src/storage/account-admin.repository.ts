import { Injectable } from '@nestjs/common';
import type { OperatorName } from '../policy/audit-actor.js';
import type { AuditKind } from '../policy/audit-event.js';
import type { KnownIdentity } from '../policy/policy-plan.js';
import { insertAuditEvents } from './audit.repository.js';
import { Database } from './database.js';

/** An account as an administrator sees it. Times are Unix milliseconds. */
export interface AdministeredAccount {
  readonly id: string;
  readonly createdAt: number;
  readonly keyMode: string;
  readonly disabledAt: number | null;
  readonly identities: readonly AdministeredIdentity[];
}

export interface AdministeredIdentity extends KnownIdentity {
  readonly login: string | null;
  readonly nextCheckAt: number | null;
  readonly failures: number;
}

const MS = (column: string): string => `floor(extract(epoch FROM "${column}") * 1000)`;

const SELECT_ACCOUNTS = `
  SELECT "id", "created_at" AS "createdAt", "key_mode" AS "keyMode", "disabled_at" AS "disabledAt",
    (SELECT json_agg(json_build_object('provider', "provider", 'subject', "subject",
       'login', "login", 'status', "eligibility_status", 'reason', "eligibility_reason",
       'checkedAt', ${MS('eligibility_checked_at')},
       'nextCheckAt', ${MS('eligibility_next_check_at')},
       'failures', "consecutive_failures", 'facts', "facts") ORDER BY "provider")
     FROM "identity" WHERE "account_id" = "account"."id") AS "identities"
  FROM "account"`;

const NOTHING = '00000000-0000-0000-0000-000000000000';

/** What an administrator does to one account, each by one statement, plus its audit row. */
const ACTS = {
  'account-disabled': `WITH "ended" AS (DELETE FROM "session" WHERE "account_id" = $1)
    UPDATE "account" SET "disabled_at" = COALESCE("disabled_at", $2),
      "token_epoch" = "token_epoch" + 1
    WHERE "id" = $1 RETURNING "id"`,
  'account-enabled': `UPDATE "account" SET "disabled_at" = NULL
    WHERE "id" = $1 AND $2::timestamptz IS NOT NULL RETURNING "id"`,
  'all-tokens-revoked': `WITH "ended" AS (DELETE FROM "session" WHERE "account_id" = $1)
    UPDATE "account" SET "token_epoch" = "token_epoch" + 1
    WHERE "id" = $1 AND $2::timestamptz IS NOT NULL RETURNING "id"`,
  'recheck-requested': `WITH "due" AS (
      UPDATE "identity" SET "eligibility_next_check_at" = $2 WHERE "account_id" = $1)
    SELECT "id" FROM "account" WHERE "id" = $1`,
} as const satisfies Partial<Record<AuditKind, string>>;

export type AdminAct = keyof typeof ACTS;

/** Who acts on an account, and why; the audit trail keeps both. */
export interface ActOrigin {
  readonly actor: OperatorName;
  readonly reason: string;
}

/** What the command line reads and changes, beside a running server or without one. */
@Injectable()
export class AccountAdminRepository {
  constructor(private readonly database: Database) {}

  async find(accountId: string): Promise<AdministeredAccount | null> {
    const [row] = await this.database.query<AccountRow>(`${SELECT_ACCOUNTS} WHERE "id" = $1`, [
      accountId,
    ]);
    return row === undefined ? null : toAccount(row);
  }

  /** @param afterId the last id of the page before; null for the first page */
  async page(afterId: string | null, limit: number): Promise<AdministeredAccount[]> {
    const rows = await this.database.query<AccountRow>(
      `${SELECT_ACCOUNTS} WHERE "id" > $1 ORDER BY "id" LIMIT $2`,
      [afterId ?? NOTHING, limit],
    );
    return rows.map(toAccount);
  }

  /** @returns false when there is no such account; then nothing is stored */
  act(act: AdminAct, accountId: string, origin: ActOrigin, now: Date): Promise<boolean> {
    return this.database.transaction(async (query) => {
      const found = await query(ACTS[act], [accountId, now]);
      if (found.length === 0) {
        return false;
      }
      await insertAuditEvents(query, [{ kind: act, accountId, ...origin }], now);
      return true;
    });
  }
}

interface AccountRow {
  readonly id: string;
  readonly createdAt: Date;
  readonly keyMode: string;
  readonly disabledAt: Date | null;
  readonly identities: AdministeredIdentity[] | null;
}

function toAccount({ createdAt, disabledAt, identities, ...row }: AccountRow): AdministeredAccount {
  return {
    ...row,
    createdAt: createdAt.getTime(),
    disabledAt: disabledAt?.getTime() ?? null,
    identities: identities ?? [],
  };
}
