/** An id before every other. */
export const FIRST_ID = `'00000000-0000-0000-0000-000000000000'::uuid`;

/** `OFFSET 0` keeps the planner from a join, whose method would depend on statistics. */
const IS_OWED = `("event"."stream_id" IS NULL OR "event"."stream_id" = "stream"."id")
  AND NOT EXISTS (SELECT FROM "event_acknowledgement"
    WHERE "stream_id" = "stream"."id" AND "event_id" = "event"."id" OFFSET 0)`;

const IS_IN_LOG = `"event"."resource_server" = "stream"."resource_server"
  AND "event"."xid" >= "stream"."position"`;

/** SQL: an event at or after the cursor of `stream` is to be delivered. */
export const IS_AHEAD = `${IS_IN_LOG}
  AND ("event"."xid", "event"."id") >= ("stream"."cursor_xid", "stream"."cursor_id")
  AND ${IS_OWED}`;

/** SQL: an event of the transaction `open`, which the cursor of `stream` has passed, is to be delivered. */
export const IS_LATE = `${IS_IN_LOG}
  AND ("event"."xid", "event"."id") >= ("open"."xid", ${FIRST_ID})
  AND "event"."xid" <= "open"."xid"
  AND ${IS_OWED}`;

/** SQL: a known `event` is to be delivered to `stream`. */
export const IS_WAITING = `${IS_IN_LOG}
  AND (("event"."xid", "event"."id") >= ("stream"."cursor_xid", "stream"."cursor_id")
    OR "event"."xid" = ANY("stream"."open_xids"))
  AND ${IS_OWED}`;

const COLUMNS = ['id', 'xid', 'at', 'sid', 'account_id', 'code', 'txn', 'state']
  .map((name) => `"event"."${name}"`)
  .join(', ');

/** SQL: the events to deliver to `stream`, oldest first. It reads no more of the log than it returns. */
export const waitingEvents = (limit: number): string => `
  SELECT ${COLUMNS} FROM unnest("stream"."open_xids") AS "open" ("xid") CROSS JOIN LATERAL (
    SELECT ${COLUMNS} FROM "security_event" AS "event" WHERE ${IS_LATE}
    ORDER BY "event"."xid", "event"."id" LIMIT ${limit}) AS "event"
  UNION ALL
  (SELECT ${COLUMNS} FROM "security_event" AS "event" WHERE ${IS_AHEAD}
   ORDER BY "event"."xid", "event"."id" LIMIT ${limit})
  LIMIT ${limit}`;
