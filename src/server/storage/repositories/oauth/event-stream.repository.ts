import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Random } from '../../../../common/runtime/random.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { EventStreamEntity } from '../../entities/event-stream.entity.js';

export interface EventStream {
  readonly id: string;
  readonly description: string | null;
}

interface StreamKey {
  readonly id: string;
  readonly resourceServer: string;
}

/** How streams of a backend end without a request. */
export interface StreamBounds {
  readonly maxStreams: number;
  /** A stream that was not polled for so long does not exist any more. */
  readonly silentMs: number;
  /** At the bound, the stream that was silent longest is removed if it was for so long. */
  readonly replaceableMs: number;
}

/**
 * A stream begins before its creation, and with every open transaction: a receiver may hold earlier
 * tokens, and a later event could otherwise be missed.
 */
const ADD = `
  INSERT INTO "event_stream" ("id", "resource_server", "description", "created_at", "polled_at",
    "position", "cursor_xid", "open_xids")
  SELECT $1, $2, $3, now(), now(), LEAST("first"."xid", "open"."xids"[1]), "first"."xid",
    COALESCE("open"."xids", '{}')
  FROM (SELECT LEAST(
      pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
      (SELECT min("xid") FROM "security_event"
       WHERE "resource_server" = $2 AND "at" >= now() - $4 * interval '1 millisecond')) AS "xid") AS "first"
  CROSS JOIN LATERAL (
    SELECT array_agg("running"."xid"::text::bigint ORDER BY "running"."xid") AS "xids"
    FROM pg_snapshot_xip(pg_current_snapshot()) AS "running" ("xid")
    WHERE "running"."xid"::text::bigint < "first"."xid") AS "open"`;

const REMOVE_SILENT = `
  DELETE FROM "event_stream" WHERE "id" IN (
    SELECT "id" FROM "event_stream"
    WHERE "resource_server" = $1 AND "polled_at" <= now() - $2 * interval '1 millisecond'
    ORDER BY "polled_at" LIMIT $3)
  RETURNING "id"`;

const MINE = `"id" = $1 AND "resource_server" = $2
  AND "polled_at" > now() - $3 * interval '1 millisecond'`;

/** Streams of the event log: each is a place in the log of its backend. */
@Injectable()
export class EventStreamRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly random: Random,
    @InjectRepository(EventStreamEntity) private readonly streams: Repository<EventStreamEntity>,
  ) {}

  /**
   * Adds a stream. At the bound, a silent one is removed.
   * @param backlogMs the new stream has the events of this time before it
   * @returns null where every stream is in use
   */
  add(
    resourceServer: string,
    description: string | null,
    backlogMs: number,
    { maxStreams, replaceableMs }: StreamBounds,
  ): Promise<EventStream | null> {
    return this.database.transaction(async (tx) => {
      await lockStreamsOf(tx, resourceServer);
      const count = await tx.manager.countBy(EventStreamEntity, { resourceServer });
      const surplus = count - maxStreams + 1;
      if (surplus > 0) {
        const removed = await tx.query(REMOVE_SILENT, [resourceServer, replaceableMs, surplus]);
        if (removed.length < surplus) {
          return null;
        }
      }
      const id = this.random.uuid();
      await tx.query(ADD, [id, resourceServer, description, backlogMs]);
      return { id, description };
    });
  }

  async list(resourceServer: string, { silentMs }: StreamBounds): Promise<EventStream[]> {
    return this.database.query<EventStream>(
      `SELECT "id", "description" FROM "event_stream"
       WHERE "resource_server" = $1 AND "polled_at" > now() - $2 * interval '1 millisecond'
       ORDER BY "created_at", "id"`,
      [resourceServer, silentMs],
    );
  }

  /** @returns null without such a stream of that backend */
  async find({ id, resourceServer }: StreamKey, bounds: StreamBounds): Promise<EventStream | null> {
    const [found] = await this.database.query<EventStream>(
      `SELECT "id", "description" FROM "event_stream" WHERE ${MINE}`,
      [id, resourceServer, bounds.silentMs],
    );
    return found ?? null;
  }

  async remove({ id, resourceServer }: StreamKey): Promise<boolean> {
    const { affected } = await this.streams.delete({ id, resourceServer });
    return affected === 1;
  }

  /**
   * Stores the event of a verification for the stream alone.
   * @returns `early` within `intervalMs` of the last one
   */
  verify(
    { id, resourceServer }: StreamKey,
    state: string | null,
    intervalMs: number,
    { silentMs }: StreamBounds,
  ): Promise<'done' | 'early' | 'not-found'> {
    return this.database.transaction(async (tx) => {
      const [found] = await tx.query<{ isEarly: boolean }>(
        `SELECT COALESCE("verified_at" > now() - $4 * interval '1 millisecond', false) AS "isEarly"
         FROM "event_stream" WHERE ${MINE} FOR UPDATE`,
        [id, resourceServer, silentMs, intervalMs],
      );
      if (found === undefined || found.isEarly) {
        return found === undefined ? 'not-found' : 'early';
      }
      await tx.query(`UPDATE "event_stream" SET "verified_at" = now() WHERE "id" = $1`, [id]);
      await tx.query(
        `INSERT INTO "security_event" ("id", "resource_server", "at", "txn", "stream_id", "state")
         VALUES ($1, $2, clock_timestamp(), transaction_number(), $3, $4)`,
        [this.random.uuid(), resourceServer, id, state],
      );
      return 'done';
    });
  }
}

/** Serialises the creation of streams of one backend, so that the bound holds. */
async function lockStreamsOf(tx: Transaction, resourceServer: string): Promise<void> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 7326402913))`, [
    resourceServer,
  ]);
}
