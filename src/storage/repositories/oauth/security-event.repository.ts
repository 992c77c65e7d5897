import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../../policy/audit-event.js';
import { DatabaseService } from '../../database.service.js';

/** An event to deliver. */
export interface SecurityEvent {
  readonly id: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** The session at the backend that ended; null = a verification. */
  readonly sid: string | null;
  readonly accountId: string | null;
  /** The code with which an exchange is refused; null = the session or the account ended. */
  readonly code: string | null;
  readonly txn: string;
  readonly state: string | null;
  /** The audit event of the cause; null = there is none. */
  readonly cause: Pick<AuditEvent, 'kind' | 'actor'> | null;
}

interface SecurityEventRow extends Omit<SecurityEvent, 'at' | 'cause'> {
  readonly at: Date;
  readonly kind: AuditEvent['kind'] | null;
  readonly actor: AuditEvent['actor'] | null;
}

/** SQL: `event` is to be delivered to `stream`. */
export const IS_WAITING = `"event"."resource_server" = "stream"."resource_server"
  AND "event"."xid" >= "stream"."position"
  AND ("event"."stream_id" IS NULL OR "event"."stream_id" = "stream"."id")
  AND NOT EXISTS (SELECT FROM "event_acknowledgement"
    WHERE "stream_id" = "stream"."id" AND "event_id" = "event"."id")`;

/** The clocks of the database and of the server that stored the audit event may differ. */
const PAGE = `
  SELECT "event"."id", "event"."at", "event"."sid", "event"."account_id" AS "accountId", "event"."code",
    "event"."txn", "event"."state", "cause"."kind", "cause"."actor"
  FROM "event_stream" AS "stream"
  JOIN "security_event" AS "event" ON ${IS_WAITING}
  LEFT JOIN LATERAL (
    SELECT "kind", "actor" FROM "audit_event"
    WHERE "audit_event"."account_id" = "event"."account_id"
      AND "audit_event"."at" > "event"."at" - interval '1 hour'
      AND "audit_event"."txn" = "event"."txn" AND "kind" = ANY($3)
    ORDER BY "audit_event"."id" LIMIT 1) AS "cause" ON true
  WHERE "stream"."id" = $1
  ORDER BY "event"."xid", "event"."id" LIMIT $2`;

/**
 * Events of an open transaction may still appear before later ones, so a stream's position never
 * passes the oldest of them. Later events are delivered meanwhile.
 */
const MOVE = `
  UPDATE "event_stream" AS "stream" SET "polled_at" = now(), "position" = GREATEST("position", LEAST(
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
    (SELECT "event"."xid" FROM "security_event" AS "event"
     WHERE ${IS_WAITING} AND "event"."id" <> ALL($4::uuid[])
     ORDER BY "event"."xid", "event"."id" LIMIT 1)))
  WHERE "id" = $1 AND "resource_server" = $2
    AND "polled_at" > now() - $3 * interval '1 millisecond'
  RETURNING "position"`;

/** One statement, because a backend polls again for each event. */
const ACKNOWLEDGE = `
  WITH "counted" AS (
    SELECT count(*)::int AS "count" FROM "event_stream" AS "stream"
    JOIN "security_event" AS "event" ON ${IS_WAITING}
    WHERE "stream"."id" = $1 AND "stream"."resource_server" = $2 AND "event"."id" = ANY($4::uuid[])),
  "moved" AS (${MOVE}),
  "added" AS (
    INSERT INTO "event_acknowledgement" ("stream_id", "event_id", "xid")
    SELECT $1, "id", "xid" FROM "security_event"
    WHERE "id" = ANY($4::uuid[]) AND "resource_server" = $2
      AND "xid" >= (SELECT "position" FROM "moved") AND ("stream_id" IS NULL OR "stream_id" = $1)
    ON CONFLICT DO NOTHING),
  "passed" AS (
    DELETE FROM "event_acknowledgement"
    WHERE "stream_id" = $1 AND "xid" < (SELECT "position" FROM "moved"))
  SELECT "count" FROM "counted", "moved"`;

/** The log of each backend, and its delivery to streams. */
@Injectable()
export class SecurityEventRepository {
  constructor(private readonly database: DatabaseService) {}

  /**
   * Acknowledges events and notes the poll.
   * @returns the number of newly acknowledged events; null when the stream does not exist
   */
  async acknowledge(
    { id, resourceServer }: { readonly id: string; readonly resourceServer: string },
    acknowledged: readonly string[],
    silentMs: number,
  ): Promise<number | null> {
    const parameters = [id, resourceServer, silentMs, acknowledged];
    if (acknowledged.length === 0) {
      const moved = await this.database.query(MOVE, parameters);
      return moved.length === 0 ? null : 0;
    }
    const [row] = await this.database.query<{ count: number }>(ACKNOWLEDGE, parameters);
    return row?.count ?? null;
  }

  /** Returns the oldest events that the stream has not acknowledged. @param causes audit kinds */
  async page(streamId: string, limit: number, causes: readonly string[]): Promise<SecurityEvent[]> {
    const rows = await this.database.query<SecurityEventRow>(PAGE, [streamId, limit, causes]);
    return rows.map(({ at, kind, actor, ...event }) => ({
      ...event,
      at: at.getTime(),
      cause: kind === null || actor === null ? null : { kind, actor },
    }));
  }

  /** Returns which of these streams have an event to deliver, or do not exist any more. */
  async arrivedAt(streamIds: readonly string[]): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `SELECT "awaited"."id" FROM unnest($1::uuid[]) AS "awaited" ("id")
       LEFT JOIN "event_stream" AS "stream" ON "stream"."id" = "awaited"."id"
       WHERE "stream"."id" IS NULL
         OR EXISTS (SELECT FROM "security_event" AS "event" WHERE ${IS_WAITING})`,
      [streamIds],
    );
    return rows.map(({ id }) => id);
  }
}
