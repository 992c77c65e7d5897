import { Injectable } from '@nestjs/common';
import { DatabaseService, type SqlRunner } from '../../database.service.js';
import type { SignalStreamEntity } from '../../entities/signal-stream.entity.js';

export type StreamStatus = SignalStreamEntity['status'];

/** A stream of security events at a provider's transmitter. */
export type SignalStream = Readonly<
  Omit<SignalStreamEntity, 'checkAt' | 'leasedBy' | 'leasedUntil'>
>;

type NewStream = Pick<
  SignalStream,
  'provider' | 'transmitter' | 'streamId' | 'audiences' | 'pollUrl' | 'verificationState'
>;

type StreamKey = Pick<SignalStream, 'provider' | 'transmitter'>;

/** The report of an event about its stream. */
export interface StreamNews {
  readonly stream: SignalStream;
  /** null = the event verifies the stream. */
  readonly status: StreamStatus | null;
  readonly reason: string | null;
}

const COLUMNS = `"provider", "transmitter", "stream_id" AS "streamId", "audiences",
  "poll_url" AS "pollUrl", "status", "reason", "verification_state" AS "verificationState",
  "connected_at" AS "connectedAt", "seen_at" AS "seenAt", "verified_at" AS "verifiedAt", "failure"`;

const SAVE = `
  INSERT INTO "signal_stream" ("provider", "transmitter", "stream_id", "audiences", "poll_url",
    "verification_state", "status", "connected_at", "seen_at", "check_at")
  VALUES ($1, $2, $3, $4, $5, $6, 'enabled', now(), now(), now())
  ON CONFLICT ("provider") DO UPDATE SET "transmitter" = EXCLUDED."transmitter",
    "stream_id" = EXCLUDED."stream_id", "audiences" = EXCLUDED."audiences",
    "poll_url" = EXCLUDED."poll_url", "verification_state" = EXCLUDED."verification_state",
    "status" = 'enabled', "reason" = NULL, "failure" = NULL, "connected_at" = now(),
    "seen_at" = now(), "verified_at" = NULL, "check_at" = now()
  RETURNING ${COLUMNS}`;

/** The streams that `gatehouse signals connect` made, and what is known of them. */
@Injectable()
export class SignalStreamRepository {
  constructor(private readonly database: DatabaseService) {}

  /** Replaces the stream of the provider. */
  async save(stream: NewStream): Promise<SignalStream> {
    const { provider, transmitter, streamId, audiences, pollUrl, verificationState } = stream;
    const [saved] = await this.database.query<SignalStream>(SAVE, [
      provider,
      transmitter,
      streamId,
      audiences,
      pollUrl,
      verificationState,
    ]);
    return saved as SignalStream;
  }

  /** @returns null for none, and for one at another transmitter */
  async find({ provider, transmitter }: StreamKey): Promise<SignalStream | null> {
    const [stream] = await this.database.query<SignalStream>(
      `SELECT ${COLUMNS} FROM "signal_stream" WHERE "provider" = $1 AND "transmitter" = $2`,
      [provider, transmitter],
    );
    return stream ?? null;
  }

  all(): Promise<SignalStream[]> {
    return readSignalStreams(this.database);
  }

  async remove(provider: string): Promise<void> {
    await this.database.query(`DELETE FROM "signal_stream" WHERE "provider" = $1`, [provider]);
  }

  /**
   * Lets one replica poll for a time. A replica that dies delays the next one by that time.
   *
   * @returns null while another replica polls, for a stream that is pushed, and for none
   */
  async lease(
    { provider, transmitter }: StreamKey,
    replica: string,
    forMs: number,
  ): Promise<SignalStream | null> {
    const [stream] = await this.database.query<SignalStream>(
      `UPDATE "signal_stream" SET "leased_by" = $3,
         "leased_until" = now() + $4 * interval '1 millisecond'
       WHERE "provider" = $1 AND "transmitter" = $2 AND "poll_url" IS NOT NULL
         AND ("leased_by" = $3 OR "leased_until" IS NULL OR "leased_until" <= now())
       RETURNING ${COLUMNS}`,
      [provider, transmitter, replica, forMs],
    );
    return stream ?? null;
  }

  async release(replica: string): Promise<void> {
    await this.database.query(
      `UPDATE "signal_stream" SET "leased_by" = NULL, "leased_until" = NULL WHERE "leased_by" = $1`,
      [replica],
    );
  }

  /** Takes a due look at the stream, for one replica. @returns null when none is due */
  async takeCheck(
    { provider, transmitter }: StreamKey,
    everyMs: number,
  ): Promise<SignalStream | null> {
    const [stream] = await this.database.query<SignalStream>(
      `UPDATE "signal_stream" SET "check_at" = now() + $3 * interval '1 millisecond'
       WHERE "provider" = $1 AND "transmitter" = $2 AND "check_at" <= now() RETURNING ${COLUMNS}`,
      [provider, transmitter, everyMs],
    );
    return stream ?? null;
  }

  /** Notes that the transmitter answered a poll. */
  async noteSeen(stream: SignalStream): Promise<void> {
    await noteSeen(this.database, stream, false);
  }

  async noteFailure({ provider, streamId }: SignalStream, failure: string | null): Promise<void> {
    await this.database.query(
      `UPDATE "signal_stream" SET "failure" = $3
       WHERE "provider" = $1 AND "stream_id" = $2 AND "failure" IS DISTINCT FROM $3`,
      [provider, streamId, failure],
    );
  }

  /** @returns true if the status changed */
  noteStatus(stream: SignalStream, status: StreamStatus, reason: string | null): Promise<boolean> {
    return noteStatus(this.database, stream, status, reason);
  }
}

export function readSignalStreams(sql: SqlRunner): Promise<SignalStream[]> {
  return sql.query<SignalStream>(`SELECT ${COLUMNS} FROM "signal_stream" ORDER BY "provider"`);
}

/** @returns true if the status changed */
export async function noteStreamNews(
  sql: SqlRunner,
  { stream, status, reason }: StreamNews,
): Promise<boolean> {
  if (status !== null) {
    return noteStatus(sql, stream, status, reason);
  }
  await noteSeen(sql, stream, true);
  return false;
}

async function noteSeen(
  sql: SqlRunner,
  { provider, streamId }: SignalStream,
  isVerified: boolean,
): Promise<void> {
  await sql.query(
    `UPDATE "signal_stream" SET "seen_at" = now(), "failure" = NULL,
       "verified_at" = CASE WHEN $3 THEN now() ELSE "verified_at" END
     WHERE "provider" = $1 AND "stream_id" = $2`,
    [provider, streamId, isVerified],
  );
}

async function noteStatus(
  sql: SqlRunner,
  { provider, streamId }: SignalStream,
  status: StreamStatus,
  reason: string | null,
): Promise<boolean> {
  const changed = await sql.query(
    `WITH "former" AS (
       SELECT "status" FROM "signal_stream" WHERE "provider" = $1 AND "stream_id" = $2 FOR UPDATE)
     UPDATE "signal_stream" SET "status" = $3, "reason" = $4 FROM "former"
     WHERE "provider" = $1 AND "stream_id" = $2 AND "former"."status" <> $3 RETURNING 1`,
    [provider, streamId, status, reason],
  );
  return changed.length > 0;
}
