import { Injectable } from '@nestjs/common';
import { DatabaseService, type Transaction } from '../../database.service.js';
import type { SecurityEventEntity } from '../../entities/security-event.entity.js';
import { IS_WAITING } from './waiting-events.js';

/** The bounds of the log of each backend. */
interface EventBounds {
  readonly keptMs: number;
  readonly maxEvents: number;
  /** A stream that was not polled for so long is removed. */
  readonly silentMs: number;
}

const BATCH = 1000;

const COLUMNS = '"id", "resource_server" AS "resourceServer", "xid", "stream_id" AS "streamId"';

const EXPIRED = `
  SELECT ${COLUMNS} FROM "security_event" WHERE "at" <= now() - $1 * interval '1 millisecond'
  ORDER BY "at" LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`;

/** The events of a backend beyond the number that is kept, the oldest of them last. */
const SURPLUS = `
  SELECT "event".* FROM (
    SELECT DISTINCT "resource_server" FROM "security_event") AS "log"
  CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM "security_event" WHERE "resource_server" = "log"."resource_server"
    ORDER BY "xid" DESC, "id" DESC OFFSET $1 LIMIT ${BATCH}) AS "event"`;

const END_STREAMS_BEHIND = `
  DELETE FROM "event_stream" AS "stream" WHERE EXISTS (
    SELECT FROM unnest($1::uuid[], $2::text[], $3::bigint[], $4::uuid[])
      AS "event" ("id", "resource_server", "xid", "stream_id")
    WHERE ${IS_WAITING} OFFSET 0)`;

/** Another index has the ids too, but not in this order. */
const DELETE = `
  DELETE FROM "security_event" WHERE "ctid" = ANY(ARRAY(
    SELECT "ctid" FROM "security_event" WHERE "id" = ANY($1::uuid[]) ORDER BY "id"))`;

type LoggedEvent = Pick<SecurityEventEntity, 'id' | 'resourceServer' | 'xid' | 'streamId'>;

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
    return this.database.byIndex(async (tx) => {
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
        WHERE GREATEST("position", "cursor_xid") > pg_snapshot_xmax(pg_current_snapshot())::text::bigint`);
    });
  }
}

async function deleteEvents(tx: Transaction, select: string, bound: number): Promise<number> {
  const rows = await tx.query<LoggedEvent>(select, [bound]);
  if (rows.length > 0) {
    const ids = rows.map(({ id }) => id);
    await tx.query(END_STREAMS_BEHIND, [
      ids,
      rows.map(({ resourceServer }) => resourceServer),
      rows.map(({ xid }) => xid),
      rows.map(({ streamId }) => streamId),
    ]);
    await tx.query(DELETE, [ids]);
  }
  return rows.length;
}
