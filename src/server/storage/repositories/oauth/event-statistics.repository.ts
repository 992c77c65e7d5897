import { Injectable } from '@nestjs/common';
import { DatabaseService } from '../../database.service.js';
import { waitingEvents } from './waiting-events.js';
import { inMilliseconds, type InDates } from '../../milliseconds.js';

/** The state of the log of one backend. */
export interface EventStatistics {
  readonly resourceServer: string;
  readonly events: number;
  readonly streams: number;
  readonly pausedStreams: number;
  /** 0 = every stream has acknowledged every event. */
  readonly oldestWaitingSeconds: number;
}

/** The state of one stream. Times are Unix milliseconds. */
export interface EventStreamState {
  readonly resourceServer: string;
  readonly id: string;
  readonly description: string | null;
  readonly createdAt: number;
  readonly polledAt: number;
  readonly isPaused: boolean;
  /** Events that it has not acknowledged, counted up to {@link MAX_WAITING}. */
  readonly waiting: number;
  /** 0 = none waits. */
  readonly oldestWaitingSeconds: number;
}

export const MAX_WAITING = 1000;

/** A poll waits for 10 s at most: the reader of a stream that is not polled for so long is away. */
const PAUSED_AFTER = `interval '30 seconds'`;
const IS_PAUSED = `"stream"."polled_at" <= now() - ${PAUSED_AFTER}`;

const OLDEST_WAITING_SECONDS = `COALESCE((
  SELECT GREATEST(extract(epoch FROM now() - "event"."at"), 0)::float8 FROM (${waitingEvents(1)}) AS "event"), 0)`;

const READ = `
  SELECT "backend"."id" AS "resourceServer",
    (SELECT count(*)::int FROM "security_event" WHERE "resource_server" = "backend"."id") AS "events",
    count("stream"."id")::int AS "streams",
    (count(*) FILTER (WHERE ${IS_PAUSED}))::int AS "pausedStreams",
    COALESCE(max(${OLDEST_WAITING_SECONDS}), 0) AS "oldestWaitingSeconds"
  FROM unnest($1::text[]) WITH ORDINALITY AS "backend" ("id", "place")
  LEFT JOIN "event_stream" AS "stream" ON "stream"."resource_server" = "backend"."id"
  GROUP BY "backend"."id", "backend"."place" ORDER BY "backend"."place"`;

const READ_STREAMS = `
  SELECT "stream"."resource_server" AS "resourceServer", "stream"."id", "stream"."description",
    "stream"."created_at" AS "createdAt", "stream"."polled_at" AS "polledAt",
    ${IS_PAUSED} AS "isPaused",
    (SELECT count(*)::int FROM (${waitingEvents(MAX_WAITING)}) AS "event") AS "waiting",
    ${OLDEST_WAITING_SECONDS} AS "oldestWaitingSeconds"
  FROM "event_stream" AS "stream" WHERE "stream"."resource_server" = ANY($1::text[])
  ORDER BY "stream"."resource_server", "stream"."created_at", "stream"."id"`;

@Injectable()
export class EventStatisticsRepository {
  constructor(private readonly database: DatabaseService) {}

  read(resourceServers: readonly string[]): Promise<EventStatistics[]> {
    return this.database.byIndex((tx) => tx.query<EventStatistics>(READ, [resourceServers]));
  }

  streams(resourceServers: readonly string[]): Promise<EventStreamState[]> {
    return readEventStreams(this.database, resourceServers);
  }
}

/** Reads every stream of these backends, oldest first. */
export async function readEventStreams(
  database: DatabaseService,
  resourceServers: readonly string[],
): Promise<EventStreamState[]> {
  type Row = InDates<EventStreamState, 'createdAt' | 'polledAt'>;
  const rows = await database.byIndex((tx) => tx.query<Row>(READ_STREAMS, [resourceServers]));
  return rows.map(inMilliseconds);
}
