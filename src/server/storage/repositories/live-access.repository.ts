import { Injectable } from '@nestjs/common';
import { Runtime } from '../../../common/runtime/runtime.js';
import type { AccessFacts, IdentityFacts } from '../../../core/policy/admission/access.js';
import { batched } from '../batched.js';
import { DatabaseService, type SqlRunner } from '../database.service.js';
import { accountRow } from '../account-row.js';
import { SIGNALS_OF_IDENTITY } from './directory/identity-signal.repository.js';
import { AUTHENTICATED_AT } from './session.repository.js';

export interface UsedSession {
  readonly accountId: string;
  readonly sessionId: string;
  /** True if `sessionId` is the id of a program's grant, which takes the place of a session. */
  readonly isGrant?: true;
}

export interface UsedSessionFacts {
  readonly access: AccessFacts;
  readonly updateSeq: number;
}

const IDENTITIES = `(SELECT json_agg(json_build_object('provider', "provider",
    'status', "eligibility_status",
    'reason', "eligibility_reason",
    'checkedAt', floor(extract(epoch FROM "eligibility_checked_at") * 1000),
    'failures', "consecutive_failures",
    ${SIGNALS_OF_IDENTITY}) ORDER BY "connected_at", "id")
  FROM "identity" WHERE "account_id" = "account"."id")`;

const OF_SESSIONS = `
  LEFT JOIN "session" ON "session"."id" = "used_session"."session_id"
    AND "session"."account_id" = "account"."id"
    AND "session"."token_epoch" = "account"."token_epoch"`;

/** A grant takes the place of a session: what ends it deletes its row. */
const OF_GRANTS = `
  LEFT JOIN "program_grant" ON "program_grant"."id" = "used_session"."session_id"
    AND "program_grant"."account_id" = "account"."id" AND "program_grant"."expires_at" > now()`;

const factsOf = (identities: string, loggedInAt: string, logins: string): string => `
  SELECT "used_session"."session_id" AS "sessionId", ${loggedInAt} AS "loggedInAt",
    "disabled_at" IS NOT NULL AS "isDisabled", "key_mode" = 'keyless' AS "isKeyless",
    "update_seq" AS "updateSeq",
    ${identities} AS "identities"
  FROM unnest($1::uuid[], $2::uuid[]) AS "used_session" ("account_id", "session_id")
  JOIN "account" ON "account"."id" = "used_session"."account_id"
  ${logins}`;

/** Only an identity opens an account without a device key. */
const OF_KEYLESS = `CASE WHEN "key_mode" = 'keyless' THEN ${IDENTITIES} END`;

const WITH_IDENTITIES = factsOf(IDENTITIES, AUTHENTICATED_AT, OF_SESSIONS);
const WITH_IDENTITIES_OF_KEYLESS = factsOf(OF_KEYLESS, AUTHENTICATED_AT, OF_SESSIONS);

const GRANTED_AT = `"program_grant"."authenticated_at"`;
const GRANTS_WITH_IDENTITIES = factsOf(IDENTITIES, GRANTED_AT, OF_GRANTS);
const GRANTS_WITH_IDENTITIES_OF_KEYLESS = factsOf(OF_KEYLESS, GRANTED_AT, OF_GRANTS);

/** The delay is not noticeable, and many new connections share a statement. */
const UPDATE_SEQS = { everyMs: 10, maxKeys: 500 };

/** Uses SQL: every uncached request and every open connection reads these facts. */
@Injectable()
export class LiveAccessRepository {
  private readonly updateSeqs: (accountId: string) => Promise<number | undefined>;

  constructor(
    private readonly database: DatabaseService,
    runtime: Runtime,
  ) {
    this.updateSeqs = batched(
      runtime,
      (accountIds) => this.readUpdateSeqs(accountIds),
      UPDATE_SEQS,
    );
  }

  /**
   * Returns the `seq` of the account's newest update; calls within a short time share a read.
   * @throws AppError `token-revoked` when the account is deleted
   */
  async updateSeqOf(accountId: string): Promise<number> {
    return accountRow(await this.updateSeqs(accountId));
  }

  /**
   * @param needsIdentities true if a decision depends on the identities of every account; else only
   * of keyless ones
   * @returns the facts by session id, without sessions of deleted accounts
   */
  async factsOf(
    used: readonly UsedSession[],
    needsIdentities: boolean,
    runner: SqlRunner = this.database,
  ): Promise<Map<string, UsedSessionFacts>> {
    const sessions = used.filter(({ isGrant }) => isGrant !== true);
    const grants = used.filter(({ isGrant }) => isGrant === true);
    const rows: FactsRow[] = [];
    if (sessions.length > 0) {
      const sql = needsIdentities ? WITH_IDENTITIES : WITH_IDENTITIES_OF_KEYLESS;
      rows.push(...(await runner.query<FactsRow>(sql, parametersOf(sessions))));
    }
    if (grants.length > 0) {
      const sql = needsIdentities ? GRANTS_WITH_IDENTITIES : GRANTS_WITH_IDENTITIES_OF_KEYLESS;
      rows.push(...(await runner.query<FactsRow>(sql, parametersOf(grants))));
    }
    return new Map(
      rows.map(({ sessionId, updateSeq, loggedInAt, identities, ...account }) => {
        const state = { loggedInAt: loggedInAt?.getTime() ?? null, identities: identities ?? [] };
        return [sessionId, { access: { ...account, ...state }, updateSeq: Number(updateSeq) }];
      }),
    );
  }

  private async readUpdateSeqs(accountIds: readonly string[]): Promise<(number | undefined)[]> {
    const rows = await this.database.query<{ id: string; seq: string }>(
      `SELECT "id", "update_seq" AS "seq" FROM "account" WHERE "id" = ANY($1)`,
      [accountIds],
    );
    const seqs = new Map(rows.map(({ id, seq }) => [id, Number(seq)]));
    return accountIds.map((accountId) => seqs.get(accountId));
  }
}

function parametersOf(used: readonly UsedSession[]): string[][] {
  return [used.map(({ accountId }) => accountId), used.map(({ sessionId }) => sessionId)];
}

interface FactsRow extends Omit<AccessFacts, 'loggedInAt' | 'identities'> {
  readonly sessionId: string;
  readonly updateSeq: string;
  readonly loggedInAt: Date | null;
  readonly identities: IdentityFacts[] | null;
}
