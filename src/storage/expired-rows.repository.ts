import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

const BATCH = 1000;

/** Tables whose rows mean nothing after `expires_at`, with their keys. */
const EXPIRING = [
  ['login_challenge', 'challenge'],
  ['device_authorization', 'id'],
  ['session', 'id'],
  ['external_flow', 'state_hash'],
  ['external_pending', 'pending_hash'],
  ['logout_token', 'token_hash'],
] as const;

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
      const deleted = await this.database.query(
        `DELETE FROM "${table}" WHERE "${key}" IN (
           SELECT "${key}" FROM "${table}" WHERE "expires_at" <= $1
           ORDER BY "expires_at" LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
         RETURNING 1`,
        [now],
      );
      isMore ||= deleted.length === BATCH;
    }
    return isMore;
  }
}
