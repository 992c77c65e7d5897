import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../../common/sha256.js';
import type { AuditEvent } from '../../../../core/policy/audit-event.js';
import type { AccountMode } from '../../../../core/policy/operator-policy.js';
import { lockAccount, nextUpdateSeq, requireLiveSession } from '../../account-row.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { AccountSettingsRepository } from '../account-settings.repository.js';
import { insertAuditEvents } from '../audit.repository.js';
import {
  KEPT_MS,
  type RequestKey,
  type RequestOwner,
  type RequestState,
} from './agent-request.repository.js';

/** Answers of a request that the asking session has not rejected. */
const MAX_ANSWERS = 5;
/** Answers of a request in all. */
const MAX_SESSIONS = 100;

/** The outcome of an answer; the other ones store nothing. */
export type AnswerOutcome =
  | {
      readonly outcome: 'stored';
      readonly seq: number;
      readonly event: AuditEvent;
      /** Milliseconds from the request to its first answer; null for a later answer. */
      readonly firstAfterMs: number | null;
    }
  /** `repeated`: this session has sent the same answer; `refused`: another one, or there are enough. */
  | { readonly outcome: 'repeated' | 'refused' | 'expired' | 'unknown' };

export interface ClosedRequest {
  readonly id: string;
  readonly seq: number;
}

/** `$3` is the answering session, `$4` the answer or null, `$5` its hash, `$6` the time. */
const ANSWER = `
  WITH "target" AS (
    SELECT "id", "state", "created_at", "expires_at" FROM "agent_request"
    WHERE "account_id" = $1 AND "request_id" = $2),
  "given" AS (
    SELECT "session_id", "answer_hash", "rejected_at" FROM "request_answer"
    WHERE "request" = (SELECT "id" FROM "target")),
  "stored" AS (
    INSERT INTO "request_answer"
      ("request", "session_id", "session_name", "sealed", "answer_hash", "answered_at")
    SELECT "id", $3, (SELECT "client_name" FROM "session" WHERE "id" = $3), $4, $5, $6
    FROM "target"
    WHERE "state" = 'open' AND "expires_at" > $6
      AND (SELECT count(*) FROM "given" WHERE "rejected_at" IS NULL) < ${MAX_ANSWERS}
      AND (SELECT count(*) FROM "given") < ${MAX_SESSIONS}
    ON CONFLICT DO NOTHING RETURNING 1)
  SELECT "state", "created_at" AS "createdAt", "expires_at" <= $6 AS "isExpired",
    EXISTS (SELECT FROM "stored") AS "isStored", NOT EXISTS (SELECT FROM "given") AS "isFirst",
    (SELECT "answer_hash" FROM "given" WHERE "session_id" = $3) AS "givenHash"
  FROM "target"`;

/** The answer `$4` of the asking session's choice; null withdraws. */
const CLOSE = `
  UPDATE "agent_request" SET "state" = CASE WHEN $4::uuid IS NULL THEN 'withdrawn' ELSE 'answered' END,
    "form" = NULL, "content" = NULL, "closed_at" = $5, "kept_until" = $6
  WHERE "account_id" = $1 AND "request_id" = $2 AND "session_id" = $3 AND "state" = 'open'
    AND CASE WHEN $4::uuid IS NULL THEN "expires_at" > $5 ELSE EXISTS (
      SELECT FROM "request_answer" WHERE "request" = "agent_request"."id"
        AND "request_answer"."session_id" = $4 AND "rejected_at" IS NULL) END
  RETURNING 1`;

const REJECT = `
  WITH "target" AS (
    SELECT "id" FROM "agent_request"
    WHERE "account_id" = $1 AND "request_id" = $2 AND "session_id" = $3),
  "rejected" AS (
    UPDATE "request_answer" SET "rejected_at" = $5, "sealed" = NULL
    WHERE "request" = (SELECT "id" FROM "target") AND "session_id" = $4 AND "rejected_at" IS NULL)
  SELECT 1 FROM "target"`;

const WITHDRAW_ALL = `
  UPDATE "agent_request" SET "state" = 'withdrawn', "form" = NULL, "content" = NULL,
    "closed_at" = $2, "kept_until" = $3
  WHERE "account_id" = $1 AND "state" = 'open' AND "expires_at" > $2 RETURNING "request_id" AS "id"`;

/** Answers to requests, and the end of requests. */
@Injectable()
export class RequestAnswerRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly owners: AccountSettingsRepository,
  ) {}

  /**
   * Stores the first answer of a session, with its audit event. Answers of one account are stored one
   * after the other, so that simultaneous ones cannot exceed the limit.
   *
   * @param sealed null = a denial without a key
   * @param check throws if an account of this mode must not store the answer
   * @throws AppError `token-revoked` when the session has ended
   */
  answer(
    owner: RequestOwner,
    id: string,
    sealed: string | null,
    now: number,
    check: (mode: AccountMode) => void,
  ): Promise<AnswerOutcome> {
    const { accountId, sessionId } = owner;
    return this.database.transaction(async (tx) => {
      const { mode } = await this.owners.lockOwner(tx, accountId);
      await requireLiveSession(tx, accountId, sessionId);
      check(mode);
      const hash = hashOf(sealed);
      const parameters = [accountId, id, sessionId, sealed, hash, new Date(now)];
      const [row] = await tx.query<AnswerRow>(ANSWER, parameters);
      if (row === undefined || !row.isStored) {
        return { outcome: refusalOf(row, hash) };
      }
      const event = { kind: 'request-answered', actor: 'user', accountId, sessionId } as const;
      await insertAuditEvents(tx, [event], new Date(now));
      const firstAfterMs = row.isFirst ? now - row.createdAt.getTime() : null;
      const seq = await nextUpdateSeq(tx, accountId);
      return { outcome: 'stored', seq, event, firstAfterMs };
    });
  }

  /**
   * Closes an open request of the asking session: the first close counts.
   *
   * @param answeredBy the session whose answer was taken; null withdraws
   * @returns the `seq` of the update to send; null if nothing was closed
   */
  close(
    { accountId, sessionId }: RequestOwner,
    id: string,
    answeredBy: string | null,
    now: number,
  ): Promise<number | null> {
    return this.database.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const closed = await tx.query(CLOSE, [
        accountId,
        id,
        sessionId,
        answeredBy,
        new Date(now),
        new Date(now + KEPT_MS),
      ]);
      return closed.length === 0 ? null : nextUpdateSeq(tx, accountId);
    });
  }

  /**
   * Rejects the answer of a session, which makes room for the answer of another one.
   *
   * @returns false if the asking session has no such request
   */
  async reject(
    { accountId, sessionId }: RequestOwner,
    id: string,
    answeredBy: string,
    now: number,
  ): Promise<boolean> {
    const parameters = [accountId, id, sessionId, answeredBy, new Date(now)];
    return (await this.database.query(REJECT, parameters)).length > 0;
  }
}

interface AnswerRow {
  readonly state: RequestState;
  readonly createdAt: Date;
  readonly isExpired: boolean;
  readonly isStored: boolean;
  readonly isFirst: boolean;
  readonly givenHash: Buffer | null;
}

function refusalOf(row: AnswerRow | undefined, hash: Buffer) {
  if (row === undefined) {
    return 'unknown';
  }
  if (row.givenHash !== null) {
    return row.givenHash.equals(hash) ? 'repeated' : 'refused';
  }
  const isExpired = row.state === 'expired' || (row.state === 'open' && row.isExpired);
  return isExpired ? 'expired' : 'refused';
}

/**
 * Withdraws the open requests of an account that the caller has locked. @returns them, with the
 * `seq` of the update of each
 */
export async function withdrawOpenRequests(
  tx: Transaction,
  accountId: string,
  now: Date,
): Promise<ClosedRequest[]> {
  const keptUntil = new Date(now.getTime() + KEPT_MS);
  const rows = await tx.query<Pick<RequestKey, 'id'>>(WITHDRAW_ALL, [accountId, now, keptUntil]);
  const closed: ClosedRequest[] = [];
  for (const { id } of rows) {
    closed.push({ id, seq: await nextUpdateSeq(tx, accountId) });
  }
  return closed;
}

function hashOf(sealed: string | null): Buffer {
  const text = sealed === null ? 'deny' : `sealed\n${sealed}`;
  return sha256(text);
}
