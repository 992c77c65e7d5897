import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../policy/audit-event.js';
import { insertAuditEvents } from './audit.repository.js';
import { Database } from './database.js';

/** The end of an account. */
@Injectable()
export class AccountRemovalRepository {
  constructor(private readonly database: Database) {}

  /**
   * Removes the account and all that hangs on it; its audit trail stays until it is too old.
   *
   * @returns false when it was gone
   */
  remove(accountId: string, event: AuditEvent, now: Date): Promise<boolean> {
    return this.database.transaction(async (query) => {
      // Identities before the account: logins lock in that order.
      await query(`SELECT FROM "identity" WHERE "account_id" = $1 ORDER BY "id" FOR UPDATE`, [
        accountId,
      ]);
      const removed = await query(`DELETE FROM "account" WHERE "id" = $1 RETURNING 1`, [accountId]);
      if (removed.length > 0) {
        await insertAuditEvents(query, [event], now);
      }
      return removed.length > 0;
    });
  }
}
