import { Injectable } from '@nestjs/common';
import type { AccessFacts, IdentityFacts } from '../../policy/admission/access.js';
import { batched } from '../batched.js';
import { Database } from '../database.js';
import { accountRow } from '../account-row.js';

/** A session whose token is in use. */
export interface UsedSession {
  readonly accountId: string;
  readonly sessionId: string;
}

/** What storage says about one of them now. */
export interface UsedSessionFacts {
  readonly access: AccessFacts;
  /** The account's newest update. */
  readonly updateSeq: number;
}

const IDENTITIES = `(SELECT json_agg(json_build_object('provider', "provider",
    'status', "eligibility_status",
    'checkedAt', floor(extract(epoch FROM "eligibility_checked_at") * 1000),
    'failures', "consecutive_failures") ORDER BY "connected_at", "id")
  FROM "identity" WHERE "account_id" = "account"."id")`;

const factsOfSessions = (identities: string): string => `
  SELECT "used"."session_id" AS "sessionId", "session"."created_at" AS "loggedInAt",
    "disabled_at" IS NOT NULL AS "isDisabled", "key_mode" = 'keyless' AS "isKeyless",
    "update_seq" AS "updateSeq",
    ${identities} AS "identities"
  FROM unnest($1::uuid[], $2::uuid[]) AS "used" ("account_id", "session_id")
  JOIN "account" ON "account"."id" = "used"."account_id"
  LEFT JOIN "session" ON "session"."id" = "used"."session_id"
    AND "session"."account_id" = "account"."id"
    AND "session"."token_epoch" = "account"."token_epoch"`;

const WITH_IDENTITIES = factsOfSessions(IDENTITIES);
/** Nothing else opens an account without a device key. */
const WITH_IDENTITIES_OF_KEYLESS = factsOfSessions(
  `CASE WHEN "key_mode" = 'keyless' THEN ${IDENTITIES} END`,
);

/** Too short to notice, and many new connections share a statement. */
const UPDATE_SEQS = { everyMs: 10, maxKeys: 500 };

/**
 * The facts that decide whether sessions in use continue, for many at once. SQL: every cold request
 * and every open connection reads them.
 */
@Injectable()
export class LiveAccessRepository {
  private readonly updateSeqs = batched(async (accountIds: readonly string[]) => {
    const rows = await this.database.query<{ id: string; seq: string }>(
      `SELECT "id", "update_seq" AS "seq" FROM "account" WHERE "id" = ANY($1)`,
      [accountIds],
    );
    const seqs = new Map(rows.map(({ id, seq }) => [id, Number(seq)]));
    return accountIds.map((accountId) => seqs.get(accountId));
  }, UPDATE_SEQS);

  constructor(private readonly database: Database) {}

  /**
   * The number of the account's newest update. Of calls that follow one another closely, many
   * share a statement.
   *
   * @throws AppError `token-revoked` when the account is gone
   */
  async updateSeqOf(accountId: string): Promise<number> {
    return accountRow(await this.updateSeqs(accountId));
  }

  /**
   * One statement, whatever their number: the caller bounds it.
   *
   * @param needsIdentities whether a decision depends on the identities of every account; else those of
   *   accounts with a device key are omitted
   * @returns by session id; sessions whose account is gone are left out
   */
  async factsOf(
    used: readonly UsedSession[],
    needsIdentities: boolean,
  ): Promise<Map<string, UsedSessionFacts>> {
    const rows = await this.database.query<FactsRow>(
      needsIdentities ? WITH_IDENTITIES : WITH_IDENTITIES_OF_KEYLESS,
      [used.map(({ accountId }) => accountId), used.map(({ sessionId }) => sessionId)],
    );
    return new Map(
      rows.map(({ sessionId, updateSeq, loggedInAt, identities, ...account }) => {
        const state = { loggedInAt: loggedInAt?.getTime() ?? null, identities: identities ?? [] };
        return [sessionId, { access: { ...account, ...state }, updateSeq: Number(updateSeq) }];
      }),
    );
  }
}

interface FactsRow extends Omit<AccessFacts, 'loggedInAt' | 'identities'> {
  readonly sessionId: string;
  readonly updateSeq: string;
  readonly loggedInAt: Date | null;
  readonly identities: IdentityFacts[] | null;
}
