import { Injectable } from '@nestjs/common';
import { DatabaseService, type Transaction } from '../../database.service.js';

/** The bounds of the log of each backend. */
export interface EventBounds {
  readonly keptMs: number;
  readonly maxEvents: number;
  /** A stream that was not polled for so long is removed. */
  readonly silentMs: number;
}

const BATCH = 1000;

const EXPIRED = `
  SELECT "id" FROM "security_event" WHERE "at" <= now() - $1 * interval '1 millisecond'
  ORDER BY "at" LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`;

/** The events of a backend beyond the number that is kept, the oldest of them last. */
const SURPLUS = `
  SELECT "event"."id" FROM (
    SELECT DISTINCT "resource_server" FROM "security_event") AS "log"
  CROSS JOIN LATERAL (
    SELECT "id" FROM "security_event" WHERE "resource_server" = "log"."resource_server"
    ORDER BY "xid" DESC, "id" DESC OFFSET $1 LIMIT ${BATCH}) AS "event"`;

const END_STREAMS_BEHIND = `
  DELETE FROM "event_stream" AS "stream" USING "security_event" AS "event"
  WHERE "event"."id" = ANY($1::uuid[])
    AND "event"."resource_server" = "stream"."resource_server"
    AND "event"."xid" >= "stream"."position"
    AND ("event"."stream_id" IS NULL OR "event"."stream_id" = "stream"."id")
    AND NOT EXISTS (SELECT FROM "event_acknowledgement"
      WHERE "stream_id" = "stream"."id" AND "event_id" = "event"."id")`;

/** Keeps the logs and their streams within their bounds. */
@Injectable()
export class EventRetentionRepository {
  constructor(private readonly database: DatabaseService) {}

  /**
   * Deletes a batch of events of each kind, and the streams that miss one: a poll reports it.
   * @returns true if a batch was full, so that more rows may be left
   */
  async deleteBatch({ keptMs, maxEvents, silentMs }: EventBounds): Promise<boolean> {
    await this.database.query(
      `DELETE FROM "event_stream" WHERE "polled_at" <= now() - $1 * interval '1 millisecond'`,
      [silentMs],
    );
    return this.database.transaction(async (tx) => {
      const expired = await deleteEvents(tx, EXPIRED, keptMs);
      const surplus = await deleteEvents(tx, SURPLUS, maxEvents);
      return expired >= BATCH || surplus >= BATCH;
    });
  }

  /**
   * Orders events of a copied or restored database among those of this one, and removes the streams
   * whose place has no meaning here.
   */
  adopt(): Promise<void> {
    return this.database.transaction(async (tx) => {
      await tx.query(`
        UPDATE "security_event" SET "xid" = transaction_number()
        WHERE "xid" >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint`);
      await tx.query(`
        DELETE FROM "event_stream"
        WHERE "position" > pg_snapshot_xmax(pg_current_snapshot())::text::bigint`);
    });
  }
}

async function deleteEvents(tx: Transaction, select: string, bound: number): Promise<number> {
  const rows = await tx.query<{ id: string }>(select, [bound]);
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) {
    await tx.query(END_STREAMS_BEHIND, [ids]);
    await tx.query(`DELETE FROM "security_event" WHERE "id" = ANY($1::uuid[])`, [ids]);
  }
  return ids.length;
}
