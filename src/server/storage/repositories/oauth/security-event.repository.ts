import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../../../core/policy/audit-event.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { FIRST_ID, IS_AHEAD, IS_LATE, IS_WAITING, waitingEvents } from './waiting-events.js';
import type { SecurityEventEntity } from '../../entities/security-event.entity.js';
import { inMilliseconds, type InMilliseconds } from '../../milliseconds.js';

/** An event to deliver. */
export interface SecurityEvent extends InMilliseconds<LoggedEvent> {
  /** The audit event of the cause; null = there is none. */
  readonly cause: Pick<AuditEvent, 'kind' | 'actor'> | null;
}

type LoggedEvent = Omit<SecurityEventEntity, 'resourceServer' | 'xid' | 'streamId'>;

interface SecurityEventRow extends LoggedEvent {
  readonly kind: AuditEvent['kind'] | null;
  readonly actor: AuditEvent['actor'] | null;
}

interface EventPoll {
  readonly streamId: string;
  readonly resourceServer: string;
  readonly acknowledged: readonly string[];
  readonly limit: number;
  /** Audit kinds that cause events. */
  readonly causes: readonly string[];
  /** A stream that was not polled for so long does not exist any more. */
  readonly silentMs: number;
}

export interface PolledEvents {
  /** The number of newly acknowledged events. */
  readonly acknowledged: number;
  /** The oldest events that the stream has not acknowledged. */
  readonly events: readonly SecurityEvent[];
  readonly moreAvailable: boolean;
}

/** Bounds the answer: a token has about 1 kB. */
export const MAX_EVENTS = 200;

/** Polls of one stream wait for each other, so that its place never moves back. */
const LOCK = `
  SELECT FROM "event_stream" WHERE "id" = $1 AND "resource_server" = $2
    AND "polled_at" > now() - $3 * interval '1 millisecond'
  FOR NO KEY UPDATE`;

/**
 * Moves the cursor to the first event to deliver, or to the end of the log. Transactions before it that are open may
 * still add events: they are listed, and looked at by the next polls. So an open transaction, of whatever database,
 * neither hides an event nor keeps the cursor back.
 */
const ACKNOWLEDGE = `
  WITH "acknowledged" AS (
    SELECT "event"."id", "event"."xid" FROM "event_stream" AS "stream" CROSS JOIN LATERAL (
      SELECT "id", "xid", "resource_server", "stream_id" FROM "security_event"
      WHERE "id" = ANY($2::uuid[]) ORDER BY "id" OFFSET 0) AS "event"
    WHERE "stream"."id" = $1 AND ${IS_WAITING}),
  "cursor" AS (
    SELECT COALESCE("next"."id", ${FIRST_ID}) AS "id",
      COALESCE("next"."xid", pg_snapshot_xmax(pg_current_snapshot())::text::bigint) AS "xid"
    FROM "event_stream" AS "stream" LEFT JOIN LATERAL (
      SELECT "event"."xid", "event"."id" FROM "security_event" AS "event"
      WHERE ${IS_AHEAD} AND "event"."id" <> ALL($2::uuid[])
      ORDER BY "event"."xid", "event"."id" LIMIT 1) AS "next" ON true
    WHERE "stream"."id" = $1),
  "open" AS (
    SELECT COALESCE(array_agg("passed"."xid" ORDER BY "passed"."xid"), '{}') AS "xids" FROM (
      SELECT "running"."xid"::text::bigint
      FROM pg_snapshot_xip(pg_current_snapshot()) AS "running" ("xid"), "cursor"
      WHERE "running"."xid"::text::bigint < "cursor"."xid"
      UNION
      SELECT "open"."xid" FROM "event_stream" AS "stream", unnest("open_xids") AS "open" ("xid")
      WHERE "stream"."id" = $1 AND EXISTS (
        SELECT FROM "security_event" AS "event"
        WHERE ${IS_LATE} AND "event"."id" <> ALL($2::uuid[]) OFFSET 0)) AS "passed" ("xid")),
  "moved" AS (
    UPDATE "event_stream" AS "stream" SET "polled_at" = now(),
      "cursor_xid" = "cursor"."xid", "cursor_id" = "cursor"."id", "open_xids" = "open"."xids",
      "position" = GREATEST("position", LEAST("cursor"."xid", "open"."xids"[1]))
    FROM "cursor", "open" WHERE "stream"."id" = $1),
  "kept" AS (
    INSERT INTO "event_acknowledgement" ("stream_id", "event_id", "xid")
    SELECT $1, "acknowledged"."id", "acknowledged"."xid" FROM "acknowledged", "cursor", "open"
    WHERE ("acknowledged"."xid", "acknowledged"."id") >= ("cursor"."xid", "cursor"."id")
      OR "acknowledged"."xid" = ANY("open"."xids")
    ON CONFLICT DO NOTHING),
  "passed" AS (
    DELETE FROM "event_acknowledgement" USING "cursor", "open"
    WHERE "stream_id" = $1 AND ("event_acknowledgement"."xid", "event_id") < ("cursor"."xid", "cursor"."id")
      AND "event_acknowledgement"."xid" <> ALL("open"."xids"))
  SELECT count(*)::int AS "count" FROM "acknowledged"`;

/**
 * The clocks of the database and of the server that stored the audit event may differ. Only the index of an account's
 * events has this order.
 */
const PAGE = `
  SELECT "event"."id", "event"."at", "event"."sid", "event"."account_id" AS "accountId", "event"."code",
    "event"."txn", "event"."state", "cause"."kind", "cause"."actor"
  FROM "event_stream" AS "stream"
  CROSS JOIN LATERAL (${waitingEvents(MAX_EVENTS + 1)}) AS "event"
  LEFT JOIN LATERAL (
    SELECT "kind", "actor" FROM "audit_event"
    WHERE "account_id" IS NOT NULL AND "account_id" <= "event"."account_id"
      AND ("account_id", "at") > ("event"."account_id", "event"."at" - interval '1 hour')
      AND "txn" = "event"."txn" AND "kind" = ANY($2)
    ORDER BY "account_id", "at", "id" LIMIT 1) AS "cause" ON true
  WHERE "stream"."id" = $1 LIMIT $3`;

const ARRIVED = `
  SELECT "awaited"."id" FROM unnest($1::uuid[]) AS "awaited" ("id")
  LEFT JOIN LATERAL (
    SELECT "id", "resource_server", "position", "cursor_xid", "cursor_id", "open_xids"
    FROM "event_stream" WHERE "event_stream"."id" = "awaited"."id" OFFSET 0) AS "stream" ON true
  LEFT JOIN LATERAL (${waitingEvents(1)}) AS "event" ON true
  WHERE "stream"."id" IS NULL OR "event"."id" IS NOT NULL`;

/** The log of each backend, and its delivery to streams. */
@Injectable()
export class SecurityEventRepository {
  constructor(private readonly database: DatabaseService) {}

  /** Acknowledges events, notes the poll, and reads the next events. @returns null without such a stream */
  poll(poll: EventPoll): Promise<PolledEvents | null> {
    const { streamId, resourceServer, acknowledged, limit, causes, silentMs } = poll;
    return this.database.byIndex(async (tx) => {
      const locked = await tx.query(LOCK, [streamId, resourceServer, silentMs]);
      if (locked.length === 0) {
        return null;
      }
      const [moved] = await tx.query<{ count: number }>(ACKNOWLEDGE, [streamId, acknowledged]);
      const events = await page(tx, [streamId, causes, limit + 1]);
      return {
        acknowledged: moved?.count ?? 0,
        events: events.slice(0, limit),
        moreAvailable: events.length > limit,
      };
    });
  }

  /** Returns which of these streams have an event to deliver, or do not exist any more. */
  async arrivedAt(streamIds: readonly string[]): Promise<string[]> {
    const rows = await this.database.byIndex((tx) =>
      tx.query<{ id: string }>(ARRIVED, [streamIds]),
    );
    return rows.map(({ id }) => id);
  }
}

async function page(tx: Transaction, parameters: readonly unknown[]): Promise<SecurityEvent[]> {
  const rows = await tx.query<SecurityEventRow>(PAGE, parameters);
  return rows.map(({ kind, actor, ...event }) => ({
    ...inMilliseconds(event),
    cause: kind === null || actor === null ? null : { kind, actor },
  }));
}
