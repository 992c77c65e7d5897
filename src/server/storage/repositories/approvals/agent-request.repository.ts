import { Injectable } from '@nestjs/common';
import { Runtime } from '../../../../common/runtime/runtime.js';
import { sha256 } from '../../../../common/sha256.js';
import type { AccountMode } from '../../../../core/policy/operator-policy.js';
import type { Content } from '../../../../core/protocol/content.js';
import { isRequestId } from '../../../../core/protocol/request-id.js';
import { nextUpdateSeq, requireLiveSession } from '../../account-row.js';
import { batched } from '../../batched.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import type { AgentRequestEntity } from '../../entities/agent-request.entity.js';
import { inMilliseconds, type InDates, type InMilliseconds } from '../../milliseconds.js';
import { ContentAtRestService, type StoredContent } from '../../sealing/content-at-rest.service.js';
import { AccountSettingsRepository } from '../account-settings.repository.js';

/** A row is kept for this long after its request was closed or expired. */
export const KEPT_MS = 3_600_000;

const MAX_OPEN = 100;
const MAX_OPEN_BYTES = 4 * 1024 * 1024;
/** A quarter for one session: a thief of its token leaves room for the requests of the others. */
const MAX_OPEN_OF_SESSION = MAX_OPEN / 4;
const MAX_OPEN_BYTES_OF_SESSION = MAX_OPEN_BYTES / 4;
/** Requests that are no longer open; further ones are deleted, the oldest first. */
const MAX_CLOSED = 100;
const READ_AT_ONCE = 200;

export type RequestState = AgentRequestEntity['state'];

type RequestRow = Pick<
  AgentRequestEntity,
  'state' | 'sessionId' | 'createdAt' | 'expiresAt' | 'closedAt'
> & { readonly id: string };

/** Times are Unix milliseconds. */
export type AgentRequest = InMilliseconds<RequestRow>;

export interface AgentRequestSummary extends Pick<
  AgentRequest,
  'id' | 'createdAt' | 'expiresAt' | 'sessionId'
> {
  /** Number of answers that the asking session has not rejected. */
  readonly answers: number;
}

export interface StoredAnswer {
  readonly sessionId: string;
  readonly sessionName: string | null;
  /** Unix milliseconds. */
  readonly answeredAt: number;
  /** null = a denial without a key. */
  readonly sealed: string | null;
}

/** A request with the answers that the asking session has not rejected, in the order of their time. */
export interface AnsweredRequest extends AgentRequest {
  readonly answers: readonly StoredAnswer[];
}

export interface RequestOwner {
  readonly accountId: string;
  readonly sessionId: string;
}

export interface RequestKey {
  readonly accountId: string;
  readonly id: string;
}

interface NewRequest {
  readonly id: string;
  readonly content: Content;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** The outcome of an attempt to store a request. */
export type AddedRequest =
  | { readonly outcome: 'added'; readonly request: AgentRequest; readonly seq: number }
  | { readonly outcome: 'known'; readonly request: AgentRequest }
  /** Another content has the id. */
  | { readonly outcome: 'other-content' }
  | { readonly outcome: 'too-many' };

/** An open request whose time is over has not been marked yet. */
const STATE = (now: string): string =>
  `CASE WHEN "state" = 'open' AND "expires_at" <= ${now} THEN 'expired' ELSE "state" END AS "state"`;

const SUMMARY = `"request_id" AS "id", "session_id" AS "sessionId", "created_at" AS "createdAt",
  "expires_at" AS "expiresAt"`;

const COLUMNS = `${SUMMARY}, "closed_at" AS "closedAt"`;

const ADD = `
  WITH "open_request" AS (
    SELECT count(*) AS "count", COALESCE(sum("size"), 0) AS "bytes",
      count(*) FILTER (WHERE "is_own") AS "own_count",
      COALESCE(sum("size") FILTER (WHERE "is_own"), 0) AS "own_bytes"
    FROM (
      SELECT octet_length("content") AS "size", "session_id" = $4 AS "is_own"
      FROM "agent_request" WHERE "account_id" = $2 AND "state" = 'open' AND "expires_at" > $8)
      AS "open")
  INSERT INTO "agent_request" ("id", "account_id", "request_id", "session_id", "form", "content",
    "content_hash", "created_at", "expires_at", "kept_until")
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM "open_request"
  WHERE "count" < ${MAX_OPEN} AND "own_count" < ${MAX_OPEN_OF_SESSION}
    AND "bytes" + octet_length($6::bytea) <= ${MAX_OPEN_BYTES}
    AND "own_bytes" + octet_length($6::bytea) <= ${MAX_OPEN_BYTES_OF_SESSION}
  ON CONFLICT ("account_id", "request_id") DO NOTHING
  RETURNING ${COLUMNS}, "state"`;

const FIND_KNOWN = `
  SELECT ${COLUMNS}, ${STATE('$3')}, "content_hash" AS "contentHash"
  FROM "agent_request" WHERE "account_id" = $1 AND "request_id" = $2`;

const REMOVE_SURPLUS = `
  DELETE FROM "agent_request" WHERE "id" IN (
    SELECT "id" FROM "agent_request"
    WHERE "account_id" = $1 AND ("state" <> 'open' OR "expires_at" <= $2)
    ORDER BY "kept_until" DESC, "id" OFFSET ${MAX_CLOSED})`;

const ANSWERS = `COALESCE((
  SELECT json_agg(json_build_object('sessionId', "session_id", 'sessionName', "session_name",
    'answeredAt', floor(extract(epoch FROM "answered_at") * 1000), 'sealed', "sealed")
    ORDER BY "answered_at", "session_id")
  FROM "request_answer" WHERE "request" = "agent_request"."id" AND "rejected_at" IS NULL), '[]')
  AS "answers"`;

const LIST = `
  SELECT ${SUMMARY}, (SELECT count(*)::int FROM "request_answer"
    WHERE "request" = "agent_request"."id" AND "rejected_at" IS NULL) AS "answers"
  FROM "agent_request" WHERE "account_id" = $1 AND "state" = 'open' AND "expires_at" > $2
  ORDER BY "created_at", "request_id"`;

/** Reads the requests of many keys. */
const READ = `
  SELECT "agent_request"."account_id" AS "accountId", ${COLUMNS}, ${STATE('$3')}, ${ANSWERS}
  FROM unnest($1::uuid[], $2::text[]) AS "wanted" ("account", "request")
  JOIN "agent_request" ON "account_id" = "wanted"."account" AND "request_id" = "wanted"."request"`;

const CONTENT = `
  SELECT "form", "content" AS "bytes" FROM "agent_request"
  WHERE "account_id" = $1 AND "request_id" = $2`;

const CHANGED = `
  SELECT "wanted"."account" AS "accountId", "wanted"."request" AS "id"
  FROM unnest($1::uuid[], $2::text[]) AS "wanted" ("account", "request")
  LEFT JOIN "agent_request" ON "account_id" = "wanted"."account"
    AND "request_id" = "wanted"."request"
  WHERE "state" IS DISTINCT FROM 'open' OR EXISTS (
    SELECT FROM "request_answer"
    WHERE "request" = "agent_request"."id" AND "rejected_at" IS NULL)`;

/** Requests of programs, which their account answers. */
@Injectable()
export class AgentRequestRepository {
  private readonly readOne: (key: RequestKey) => Promise<AnsweredRequest | null>;

  constructor(
    private readonly database: DatabaseService,
    private readonly owners: AccountSettingsRepository,
    private readonly atRest: ContentAtRestService,
    private readonly runtime: Runtime,
  ) {
    this.readOne = batched(runtime, (keys) => this.readAll(keys), { maxKeys: READ_AT_ONCE });
  }

  /**
   * Stores a request, unless the account has one of this id, or it or the session too many. Requests of one account are
   * stored one after the other, so that simultaneous ones cannot exceed the limits.
   *
   * @param check throws if an account of this mode must not store the content
   * @throws AppError `token-revoked` when the session has ended
   */
  add(
    owner: RequestOwner,
    { id, content, expiresAt }: NewRequest,
    now: number,
    check: (mode: AccountMode) => void,
  ): Promise<AddedRequest> {
    const { accountId, sessionId } = owner;
    return this.database.transaction(async (tx) => {
      const { mode } = await this.owners.lockOwner(tx, accountId);
      await requireLiveSession(tx, accountId, sessionId);
      const hash = hashOf(content);
      const known = await findKnown(tx, accountId, id, now);
      if (known !== null) {
        return known.contentHash.equals(hash)
          ? { outcome: 'known', request: known.request }
          : { outcome: 'other-content' };
      }
      check(mode);
      const { form, bytes } = this.atRest.store('agent-request', content, accountId, id);
      const [row] = await tx.query<RequestRow>(ADD, [
        this.runtime.random.uuid(),
        accountId,
        id,
        sessionId,
        form,
        bytes,
        hash,
        new Date(now),
        new Date(expiresAt),
        new Date(expiresAt + KEPT_MS),
      ]);
      if (row === undefined) {
        return { outcome: 'too-many' };
      }
      await tx.query(REMOVE_SURPLUS, [accountId, new Date(now)]);
      const seq = await nextUpdateSeq(tx, accountId);
      return { outcome: 'added', request: inMilliseconds(row), seq };
    });
  }

  /** Returns the open requests of an account, oldest first. */
  async list(accountId: string, now: number): Promise<AgentRequestSummary[]> {
    type Row = InDates<AgentRequestSummary, 'createdAt' | 'expiresAt'>;
    const rows = await this.database.query<Row>(LIST, [accountId, new Date(now)]);
    return rows.map(inMilliseconds);
  }

  /** Reads one request; simultaneous calls share a statement. null = the account has none. */
  find(accountId: string, id: string): Promise<AnsweredRequest | null> {
    // A text that PostgreSQL cannot store would fail the statement for the other callers as well.
    return isRequestId(id) ? this.readOne({ accountId, id }) : Promise.resolve(null);
  }

  /** @returns null once the request is closed. @throws BrokenSealError */
  async contentOf(accountId: string, id: string): Promise<Content | null> {
    const [row] = await this.database.query<Pick<AgentRequestEntity, 'form'> & { bytes: Buffer }>(
      CONTENT,
      [accountId, id],
    );
    return row === undefined || row.form === null
      ? null
      : this.atRest.read('agent-request', row as StoredContent, accountId, id);
  }

  /** Returns which of these requests have an answer, or are not open any more. */
  changedAmong(keys: readonly RequestKey[]): Promise<RequestKey[]> {
    return this.database.query<RequestKey>(CHANGED, [
      keys.map(({ accountId }) => accountId),
      keys.map(({ id }) => id),
    ]);
  }

  private async readAll(keys: readonly RequestKey[]): Promise<(AnsweredRequest | null)[]> {
    const rows = await this.database.query<
      RequestRow & Pick<AnsweredRequest, 'answers'> & { readonly accountId: string }
    >(READ, [
      keys.map(({ accountId }) => accountId),
      keys.map(({ id }) => id),
      new Date(this.runtime.clock.now()),
    ]);
    const found = new Map(
      rows.map(({ accountId, answers, ...row }) => [
        keyText({ accountId, id: row.id }),
        { ...inMilliseconds(row), answers },
      ]),
    );
    return keys.map((key) => found.get(keyText(key)) ?? null);
  }
}

async function findKnown(tx: Transaction, accountId: string, id: string, now: number) {
  const [row] = await tx.query<RequestRow & Pick<AgentRequestEntity, 'contentHash'>>(FIND_KNOWN, [
    accountId,
    id,
    new Date(now),
  ]);
  if (row === undefined) {
    return null;
  }
  const { contentHash, ...request } = row;
  return { contentHash, request: inMilliseconds(request) };
}

function hashOf(content: Content): Buffer {
  const text = content.t === 'encrypted' ? content.c : JSON.stringify(content.v);
  return sha256(`${content.t}\n${text}`);
}

function keyText({ accountId, id }: RequestKey): string {
  return `${accountId} ${id}`;
}
