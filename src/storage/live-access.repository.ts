import { Injectable } from '@nestjs/common';
import type { AccessFacts, IdentityFacts } from '../policy/access.js';
import { Database } from './database.js';

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
    'checkedAt', floor(extract(epoch FROM "eligibility_checked_at") * 1000)))
  FROM "identity" WHERE "account_id" = "account"."id")`;

const factsOfSessions = (identities: string): string => `
  SELECT "used"."session_id" AS "sessionId", "session"."created_at" AS "loggedInAt",
    "disabled_at" IS NOT NULL AS "isDisabled", "update_seq" AS "updateSeq",
    ${identities} AS "identities"
  FROM unnest($1::uuid[], $2::uuid[]) AS "used" ("account_id", "session_id")
  JOIN "account" ON "account"."id" = "used"."account_id"
  LEFT JOIN "session" ON "session"."id" = "used"."session_id"
    AND "session"."account_id" = "account"."id"
    AND "session"."token_epoch" = "account"."token_epoch"`;

const WITH_IDENTITIES = factsOfSessions(IDENTITIES);
const WITHOUT_IDENTITIES = factsOfSessions('NULL::json');

/** What decides whether sessions that are in use go on, for many of them at once. */
@Injectable()
export class LiveAccessRepository {
  constructor(private readonly database: Database) {}

  /**
   * One statement, whatever their number: the caller bounds it.
   *
   * @param needsIdentities whether anything hangs on linked identities; they are left out otherwise
   * @returns by session id; sessions whose account is gone are left out
   */
  async factsOf(
    used: readonly UsedSession[],
    needsIdentities: boolean,
  ): Promise<Map<string, UsedSessionFacts>> {
    const rows = await this.database.query<FactsRow>(
      needsIdentities ? WITH_IDENTITIES : WITHOUT_IDENTITIES,
      [used.map(({ accountId }) => accountId), used.map(({ sessionId }) => sessionId)],
    );
    return new Map(
      rows.map(({ sessionId, updateSeq, loggedInAt, isDisabled, identities }) => [
        sessionId,
        {
          access: {
            isDisabled,
            loggedInAt: loggedInAt?.getTime() ?? null,
            identities: identities ?? [],
          },
          updateSeq: Number(updateSeq),
        },
      ]),
    );
  }
}

interface FactsRow {
  readonly sessionId: string;
  readonly updateSeq: string;
  readonly isDisabled: boolean;
  readonly loggedInAt: Date | null;
  readonly identities: IdentityFacts[] | null;
}
