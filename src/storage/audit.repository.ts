import { Injectable } from '@nestjs/common';
import type { AuditEvent, AuditKind, StoredAuditEvent } from '../policy/audit-event.js';
import { Database, type Query } from './database.js';

const DELETE_BATCH = 1000;
const MAX_REASON_LENGTH = 500;

/** The audit trail. Rows are only ever added, and deleted when they are too old to be kept. */
@Injectable()
export class AuditRepository {
  constructor(private readonly database: Database) {}

  /** Adds these events, by one statement. */
  add(events: readonly AuditEvent[], now: Date): Promise<void> {
    return insertAuditEvents(this.database.query, events, now);
  }

  /**
   * One page of events from `since` on, oldest first.
   *
   * @param afterId the last id of the page before; '0' for the first page
   */
  async page(since: Date, afterId: string, limit: number): Promise<StoredAuditEvent[]> {
    const rows = await this.database.query<AuditRow>(
      `SELECT "id", "at", "kind", "actor", "account_id" AS "accountId", "provider", "reason",
         "session_id" AS "sessionId", "address", "count"
       FROM "audit_event" WHERE "at" >= $1 AND "id" > $2 ORDER BY "id" LIMIT $3`,
      [since, afterId, limit],
    );
    return rows.map(({ at, provider, reason, sessionId, address, ...row }) => ({
      ...row,
      at: at.getTime(),
      ...(sessionId !== null && { sessionId }),
      ...(address !== null && { address }),
      ...(provider !== null && { provider }),
      ...(reason !== null && { reason }),
    }));
  }

  /**
   * Deletes at most one batch of events from before `limit`.
   *
   * @returns whether a full batch was found, so that more may be waiting
   */
  async deleteBefore(limit: Date): Promise<boolean> {
    const deleted = await this.database.query(
      `DELETE FROM "audit_event" WHERE "id" IN (
         SELECT "id" FROM "audit_event" WHERE "at" < $1
         ORDER BY "at" LIMIT ${DELETE_BATCH} FOR UPDATE SKIP LOCKED)
       RETURNING 1`,
      [limit],
    );
    return deleted.length === DELETE_BATCH;
  }
}

interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly kind: AuditKind;
  readonly actor: AuditEvent['actor'];
  readonly accountId: string | null;
  readonly provider: string | null;
  readonly reason: string | null;
  readonly sessionId: string | null;
  readonly address: string | null;
  readonly count: number;
}

/** Adds events in the caller's transaction, so that what happened and its trace are one. */
export async function insertAuditEvents(
  query: Query,
  events: readonly AuditEvent[],
  now: Date,
): Promise<void> {
  await query(
    `INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "reason", "count")
     SELECT $1, * FROM unnest($2::text[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::int[])`,
    [
      now,
      events.map(({ kind }) => kind),
      events.map(({ actor }) => actor),
      events.map(({ accountId }) => accountId),
      events.map(({ provider }) => provider ?? null),
      events.map(({ reason }) => reason?.slice(0, MAX_REASON_LENGTH) ?? null),
      events.map(({ count }) => count ?? 1),
    ],
  );
}
