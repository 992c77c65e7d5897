import { Injectable } from '@nestjs/common';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { judgeAt, type Judgement, type ResourceSessionKey } from './resource-session.repository.js';
import { inMilliseconds, type InDates } from '../../milliseconds.js';

/** A session at a backend that has to be judged again. */
export interface DueResourceSession extends ResourceSessionKey {
  readonly id: string;
  /** Expiry of the session, Unix milliseconds. */
  readonly expiresAt: number;
}

/** An exchange would now be refused with this code. */
export interface RefusedJudgement {
  readonly code: string;
}

type DueRow = InDates<DueResourceSession, 'expiresAt'>;

const DUE = `
  SELECT "id", "session_id" AS "sessionId", "account_id" AS "accountId",
    "resource_server" AS "resourceServer", "expires_at" AS "expiresAt"
  FROM "resource_session"
  WHERE "judge_at" <= GREATEST(now(), $1) AND "expires_at" > $1 AND "resource_server" = ANY($2)
  ORDER BY "judge_at" LIMIT $3 FOR UPDATE SKIP LOCKED`;

/** The value of `values` at the place of the row's id. */
const forId = (values: string): string => `(${values})[array_position($1::uuid[], "id")]`;

const KEEP = `
  UPDATE "resource_session"
  SET "judge_at" = ${forId('$2::timestamptz[]')}, "rules" = ${forId('$3::text[]')}, "txn" = NULL
  WHERE "id" = ANY($1::uuid[])`;

const END = `
  WITH "refused" AS (
    DELETE FROM "resource_session" WHERE "id" = ANY($1::uuid[])
    RETURNING "id", "resource_server", "account_id", "txn")
  INSERT INTO "security_event" ("id", "resource_server", "at", "sid", "account_id", "code", "txn")
  SELECT gen_random_uuid(), "resource_server", clock_timestamp(), "id", "account_id",
    ${forId('$2::text[]')}, COALESCE("txn", transaction_number())
  FROM "refused"`;

const withOtherRules = (isOther: string): string => `
  SELECT "id" FROM (
    SELECT "id" FROM "resource_session" WHERE "resource_server" = $1 AND ${isOther}
      AND "expires_at" > now() AND ("judge_at" IS NULL OR "judge_at" > now())
    ORDER BY "rules" LIMIT $3 FOR UPDATE SKIP LOCKED) AS "other"`;

/** Two ranges of an index, because most sessions have the current rules. */
const MARK_OTHER_RULES = `
  UPDATE "resource_session" SET "judge_at" = now() WHERE "id" = ANY(ARRAY(
    ${withOtherRules('"rules" < $2')} UNION ALL ${withOtherRules('"rules" > $2')} LIMIT $3))
  RETURNING 1`;

/**
 * Sessions at backends to judge again. Each batch is locked while it is judged, by reads of the
 * same transaction, and replicas skip each other's.
 */
@Injectable()
export class ResourceJudgementRepository {
  constructor(private readonly database: DatabaseService) {}

  /**
   * Judges a batch, and ends the sessions that are refused.
   * @param judge returns one result for each session, in their order
   * @returns the number of sessions, and the accounts of those that ended
   */
  judgeDue(
    { now, limit, resourceServers }: { now: Date; limit: number; resourceServers: string[] },
    judge: (
      due: readonly DueResourceSession[],
      tx: Transaction,
    ) => Promise<readonly (Judgement | RefusedJudgement)[]>,
  ): Promise<{ readonly judged: number; readonly ended: readonly string[] }> {
    return this.database.byIndex(async (tx) => {
      const rows = await tx.query<DueRow>(DUE, [now, resourceServers, limit]);
      if (rows.length === 0) {
        return { judged: 0, ended: [] };
      }
      const due = rows.map(inMilliseconds);
      const judgements = await judge(due, tx);
      const judged = due.map(({ id, accountId }, index) => ({
        id,
        accountId,
        judgement: judgements[index] ?? { code: 'internal' },
      }));
      const kept = judged.flatMap(({ id, judgement }) =>
        'code' in judgement ? [] : [{ id, ...judgement }],
      );
      const ended = judged.flatMap(({ id, accountId, judgement }) =>
        'code' in judgement ? [{ id, accountId, code: judgement.code }] : [],
      );
      await tx.query(KEEP, [
        kept.map(({ id }) => id),
        kept.map(({ until }) => judgeAt(until)),
        kept.map(({ rules }) => rules),
      ]);
      await tx.query(END, [ended.map(({ id }) => id), ended.map(({ code }) => code)]);
      return { judged: due.length, ended: ended.map(({ accountId }) => accountId) };
    });
  }

  /**
   * Marks a batch of sessions as due that were judged by other rules.
   * @returns true if the batch was full, so that more rows may be left
   */
  async markOtherRules(resourceServer: string, rules: string, limit: number): Promise<boolean> {
    const marked = await this.database.byIndex((tx) =>
      tx.query(MARK_OTHER_RULES, [resourceServer, rules, limit]),
    );
    return marked.length === limit;
  }
}
