import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/runtime/clock.js';
import { DatabaseService, type SqlRunner } from '../database.service.js';

const BATCH = 1000;
/** Requests of one statement, which drops their content. */
const REQUESTS = 500;

const EXPIRING = [
  ['login_challenge', 'challenge'],
  ['device_authorization', 'id'],
  ['device_lookup_miss', 'id'],
  ['session', 'id'],
  ['resource_session', 'id'],
  ['external_flow', 'state_hash'],
  ['external_pending', 'pending_hash'],
  ['logout_token', 'token_hash'],
  ['client_assertion', 'assertion_hash'],
  ['invitation', 'id'],
  ['agent_request', 'id', 'kept_until'],
  ['waiting_sign_out', 'name_hash'],
] as const;

/** A sign-out is at most seven days old when it arrives: an older login at the provider decides nothing. */
const OLD_LOGINS = {
  table: 'identity_signal',
  key: 'ctid',
  column: 'at',
  where: `"source" = 'sign-out' AND "is_allowed" AND "at" < now() - interval '8 days'`,
};

interface ExpiringTable {
  readonly table: string;
  readonly key: string;
  readonly column: string;
  /** SQL of the rows that may be deleted. Default: all. */
  readonly where?: string;
}

/**
 * Deletes at most one batch of rows from before `limit`. Replicas may do so concurrently. A limit of a clock that is ahead of
 * that of the database is moved back by as much: one replica would delete what the others need.
 * @returns true if the batch was full, so that more rows may be left
 */
export async function deleteBatch(
  runner: SqlRunner,
  { table, key, column, where = 'true' }: ExpiringTable,
  limit: Date,
  clock = new Clock(),
): Promise<boolean> {
  const deleted = await runner.query(
    `DELETE FROM "${table}" WHERE "${key}" IN (
       SELECT "${key}" FROM "${table}"
       WHERE "${column}" <= $1::timestamptz - GREATEST($2::timestamptz - now(), interval '0') AND (${where})
       ORDER BY "${column}" LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
     RETURNING 1`,
    [limit, new Date(clock.now())],
  );
  return deleted.length === BATCH;
}

const EXPIRE_REQUESTS = `
  UPDATE "agent_request" SET "state" = 'expired', "form" = NULL, "content" = NULL,
    "closed_at" = "expires_at"
  WHERE "id" IN (
    SELECT "id" FROM "agent_request" WHERE "state" = 'open' AND "expires_at" <= $1
    ORDER BY "expires_at" LIMIT ${REQUESTS} FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

@Injectable()
export class ExpiredRowsRepository {
  constructor(private readonly database: DatabaseService) {}

  /** @returns true if a batch was full, so that more rows may be left */
  async deleteBatch(now: Date): Promise<boolean> {
    let isMore = false;
    for (const [table, key, column = 'expires_at'] of EXPIRING) {
      const target = { table, key, column };
      isMore = (await deleteBatch(this.database, target, now)) || isMore;
    }
    return (await deleteBatch(this.database, OLD_LOGINS, now)) || isMore;
  }

  /** Ends at most one batch of requests whose time is over; says whether there may be more. */
  async expireRequests(now: Date) {
    const { length: expired } = await this.database.query(EXPIRE_REQUESTS, [now]);
    return { expired, isMore: expired === REQUESTS };
  }
}
