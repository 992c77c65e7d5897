import { Injectable } from '@nestjs/common';
import { DatabaseService } from '../database.service.js';
import { inMilliseconds, type InDates } from '../milliseconds.js';

/** Rows that are counted exactly; above it, a count is "at least" or the planner's estimate. */
export const COUNTED = 100_000;

interface AccountCounts {
  readonly total: number;
  /** At most one above {@link COUNTED}, like all counts below. */
  readonly disabled: number;
  readonly ineligible: number;
}

/** Requests of programs: those that wait, and those that ended within the last hour. */
interface RequestCounts {
  readonly waiting: number;
  readonly answered: number;
  readonly withdrawn: number;
  readonly expired: number;
}

interface DueCounts {
  readonly due: number;
  /** Identities that have been due for longer than the given time. */
  readonly overdue: number;
  /** Earliest due time, in Unix milliseconds; null = none is due. */
  readonly oldestDueAt: number | null;
}

const counted = (from: string): string =>
  `(SELECT count(*)::int FROM (SELECT FROM ${from} LIMIT ${COUNTED + 1}) AS "counted")`;

const ACCOUNTS = `
  SELECT ${counted('"account"')} AS "total",
    ${counted('"account" WHERE "disabled_at" IS NOT NULL')} AS "disabled",
    ${counted(
      `(SELECT DISTINCT "account_id" FROM "identity"
        WHERE "eligibility_status" = 'ineligible') AS "accounts"`,
    )} AS "ineligible",
    (SELECT "reltuples"::bigint FROM "pg_class" WHERE "oid" = '"account"'::regclass) AS "estimate"`;

/** A request whose time is over stays open until a job changes it. */
const REQUESTS = `
  SELECT ${counted(`"agent_request" WHERE "state" = 'open' AND "expires_at" > $1`)} AS "waiting",
    count(*) FILTER (WHERE "state" = 'answered')::int AS "answered",
    count(*) FILTER (WHERE "state" = 'withdrawn')::int AS "withdrawn",
    count(*) FILTER (WHERE "state" IN ('open', 'expired'))::int AS "expired"
  FROM (
    SELECT "state" FROM "agent_request"
    WHERE "kept_until" > $1 AND ("state" <> 'open' OR "expires_at" <= $1)
    LIMIT ${COUNTED + 1}) AS "ended"`;

const due = (before: string): string =>
  counted(
    `"identity" WHERE "provider" = "provider_list"."id" AND "eligibility_next_check_at" <= ${before}`,
  );

const DUE = `
  SELECT "provider_list"."id", ${due('now()')} AS "due",
    ${due(`now() - $2 * interval '1 millisecond'`)} AS "overdue",
    (SELECT min("eligibility_next_check_at") FROM "identity"
     WHERE "provider" = "provider_list"."id" AND "eligibility_next_check_at" <= now()) AS "oldestDueAt"
  FROM unnest($1::text[]) AS "provider_list" ("id")`;

/** Counts for an overview: each reads a bounded number of rows. */
@Injectable()
export class AdministrationCountsRepository {
  constructor(private readonly database: DatabaseService) {}

  async accounts(): Promise<AccountCounts> {
    const [row] = await this.database.query<AccountCounts & { readonly estimate: string }>(
      ACCOUNTS,
    );
    const { total = 0, disabled = 0, ineligible = 0, estimate = '0' } = row ?? {};
    return {
      total: total > COUNTED ? Math.max(Number(estimate), total) : total,
      disabled,
      ineligible,
    };
  }

  async requests(now: number): Promise<RequestCounts> {
    const [row] = await this.database.query<RequestCounts>(REQUESTS, [new Date(now)]);
    return row ?? { waiting: 0, answered: 0, withdrawn: 0, expired: 0 };
  }

  async rechecks(
    providers: readonly string[],
    overdueMs: number,
  ): Promise<ReadonlyMap<string, DueCounts>> {
    type Row = InDates<DueCounts, 'oldestDueAt'> & { readonly id: string };
    const rows = await this.database.query<Row>(DUE, [providers, overdueMs]);
    return new Map(rows.map(({ id, ...counts }) => [id, inMilliseconds(counts)]));
  }
}
