import { Injectable } from '@nestjs/common';
import { Database, type Query } from '../database.js';

const BATCH = 1000;

/** Tables with `expires_at`, and their keys. */
const EXPIRING = [
  ['login_challenge', 'challenge'],
  ['device_authorization', 'id'],
  ['session', 'id'],
  ['external_flow', 'state_hash'],
  ['external_pending', 'pending_hash'],
  ['logout_token', 'token_hash'],
  ['invitation', 'id'],
] as const;

/**
 * Deletes at most one batch of rows from before `limit`, in the order of `column`, beside other
 * replicas that do the same.
 *
 * @returns whether the batch was full, so that more may be left
 */
export async function deleteBatch(
  query: Query,
  { table, key, column }: { readonly table: string; readonly key: string; readonly column: string },
  limit: Date,
): Promise<boolean> {
  const deleted = await query(
    `DELETE FROM "${table}" WHERE "${key}" IN (
       SELECT "${key}" FROM "${table}" WHERE "${column}" <= $1
       ORDER BY "${column}" LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
     RETURNING 1`,
    [limit],
  );
  return deleted.length === BATCH;
}

/** Rows that have no effect after they expire. */
@Injectable()
export class ExpiredRowsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Deletes at most one batch per table, so that no statement grows with the backlog.
   *
   * @returns whether a full batch was found, so that more may be waiting
   */
  async deleteBatch(now: Date): Promise<boolean> {
    let isMore = false;
    for (const [table, key] of EXPIRING) {
      const target = { table, key, column: 'expires_at' };
      isMore = (await deleteBatch(this.database.query, target, now)) || isMore;
    }
    return isMore;
  }
}
