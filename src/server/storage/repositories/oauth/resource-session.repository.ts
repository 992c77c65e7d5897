import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Runtime } from '../../../../common/runtime/runtime.js';
import { batched } from '../../batched.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { ResourceSessionEntity } from '../../entities/resource-session.entity.js';
import { AUTHENTICATED_AT, AUTHENTICATED_BY } from '../session.repository.js';
import { inMilliseconds, type InDates } from '../../milliseconds.js';

export interface ResourceSessionKey {
  readonly accountId: string;
  readonly sessionId: string;
  readonly resourceServer: string;
}

/** Facts of a session for its tokens. Times are Unix milliseconds. */
export interface ResourceSession {
  readonly id: string;
  readonly expiresAt: number;
  readonly authenticatedAt: number;
  /** The method of the login, as sessions name it. */
  readonly method: string;
  readonly identities: readonly PersonFacts[];
}

/** The outcome of judging a session at a backend. */
export interface Judgement {
  /** When access has to be judged again, Unix milliseconds; Infinity = when something changes. */
  readonly until: number;
  /** A digest of the rules that it was judged by. */
  readonly rules: string;
}

/** An identity's names of the person; null = the provider gave none. */
export interface PersonFacts {
  readonly provider: string;
  readonly login: string | null;
  readonly email: string | null;
}

/** Selects the identities of the account of "login", with the names that they give the person. */
export const PERSON_OF_LOGIN = `
  COALESCE((SELECT json_agg(json_build_object('provider', "provider", 'login', "login",
      'email', "facts" ->> 'email') ORDER BY "connected_at", "id")
    FROM "identity" WHERE "identity"."account_id" = "login"."account_id"), '[]') AS "identities"`;

/**
 * Finds a row only if an exchange would leave it as it is. IS NOT DISTINCT FROM uses no index: that of the rules lists
 * every session of a backend, and PostgreSQL takes it for the better one in a table that was never analysed.
 */
const FIND_OPEN = `
  SELECT "asked"."index", "resource_session"."id", "login"."expires_at" AS "expiresAt",
    "login"."authenticatedAt", "login"."method", ${PERSON_OF_LOGIN}
  FROM json_to_recordset($1::json) AS "asked" ("index" integer, "sessionId" uuid,
    "resourceServer" text, "judgeAt" timestamptz, "rules" text)
  JOIN "resource_session" ON "session_id" = "asked"."sessionId"
    AND "resource_server" = "asked"."resourceServer"
    AND "judge_at" IS NOT DISTINCT FROM "asked"."judgeAt"
    AND "resource_session"."rules" IS NOT DISTINCT FROM "asked"."rules" AND "txn" IS NULL
  JOIN (
    SELECT "id", "account_id", "expires_at", ${AUTHENTICATED_AT} AS "authenticatedAt",
      ${AUTHENTICATED_BY} AS "method"
    FROM "session") AS "login" ON "login"."id" = "session_id"
    AND "login"."account_id" = "resource_session"."account_id"
    AND "login"."expires_at" = "resource_session"."expires_at"`;

const OPEN = `
  WITH "login" AS (
    SELECT "account_id", "expires_at", ${AUTHENTICATED_AT} AS "authenticatedAt",
      ${AUTHENTICATED_BY} AS "method"
    FROM "session" WHERE "id" = $2),
  "opened" AS (
    INSERT INTO "resource_session"
      ("id", "session_id", "account_id", "resource_server", "expires_at", "judge_at", "rules")
    SELECT $1, $2, "account_id", $3, "expires_at", $4, $5 FROM "login"
    ON CONFLICT ("session_id", "resource_server") DO UPDATE
      SET "expires_at" = EXCLUDED."expires_at", "judge_at" = EXCLUDED."judge_at",
        "rules" = EXCLUDED."rules", "txn" = NULL
    RETURNING "id")
  SELECT "opened"."id", "expires_at" AS "expiresAt", "authenticatedAt", "method",
    ${PERSON_OF_LOGIN}
  FROM "login", "opened"`;

const FOUND_AT_ONCE = 500;

type OpenedRow = InDates<ResourceSession, 'expiresAt' | 'authenticatedAt'>;

/** A session at a backend as an exchange would leave it. */
interface AskedSession {
  readonly sessionId: string;
  readonly resourceServer: string;
  readonly judgeAt: Date | null;
  readonly rules: string;
}

/** Sessions at backends: one for each session and backend. */
@Injectable()
export class ResourceSessionRepository {
  private readonly findJudged: (asked: AskedSession) => Promise<ResourceSession | null>;

  constructor(
    private readonly database: DatabaseService,
    private readonly runtime: Runtime,
    @InjectRepository(ResourceSessionEntity)
    private readonly resourceSessions: Repository<ResourceSessionEntity>,
  ) {
    const limits = { maxKeys: FOUND_AT_ONCE };
    this.findJudged = batched(runtime, (asked) => this.findAllJudged(asked), limits);
  }

  /**
   * Finds the session at a backend that an earlier exchange stored with the same judgement. Without
   * a lock: a transaction that ends access after this read finds the stored session. Calls within a
   * short time share a read.
   * @param judgement read from storage before this call, so that an end in between is noticed
   * @returns null when there is something to store
   */
  findOpen(
    { sessionId, resourceServer }: ResourceSessionKey,
    { until, rules }: Judgement,
  ): Promise<ResourceSession | null> {
    return this.findJudged({ sessionId, resourceServer, judgeAt: judgeAt(until), rules });
  }

  /**
   * Finds or creates the session at a backend. Its lock makes transactions that end access wait and
   * find this session, or makes `judge` see their change.
   * @param judge throws to refuse, by what it reads through the transaction
   */
  open(
    key: ResourceSessionKey,
    judge: (tx: Transaction) => Promise<Judgement>,
  ): Promise<ResourceSession> {
    const { accountId, sessionId, resourceServer } = key;
    return this.database.transaction(async (tx) => {
      await tx.query(`SELECT FROM "account" WHERE "id" = $1 FOR SHARE`, [accountId]);
      const { until, rules } = await judge(tx);
      const values = [this.runtime.random.uuid(), sessionId, resourceServer, judgeAt(until), rules];
      const [opened] = await tx.query<OpenedRow>(OPEN, values);
      if (opened === undefined) {
        throw new Error('A session without a row was admitted.');
      }
      return inMilliseconds(opened);
    });
  }

  private async findAllJudged(asked: readonly AskedSession[]): Promise<(ResourceSession | null)[]> {
    const rows = await this.database.query<OpenedRow & { index: number }>(FIND_OPEN, [
      JSON.stringify(asked.map((one, index) => ({ ...one, index }))),
    ]);
    const found = new Map(rows.map(({ index, ...row }) => [index, inMilliseconds(row)]));
    return asked.map((_one, index) => found.get(index) ?? null);
  }

  /** @returns null when there is no such session at that backend */
  async find(id: string, resourceServer: string): Promise<ResourceSessionKey | null> {
    const found = await this.resourceSessions.findOneBy({ id, resourceServer });
    return found && { accountId: found.accountId, sessionId: found.sessionId, resourceServer };
  }

  /** Finds the grant of a program by its session at a backend. @returns null when it has ended */
  async findGrant(
    sid: string,
    resourceServer: string,
  ): Promise<{ readonly accountId: string; readonly id: string } | null> {
    const [found] = await this.database.query<{ accountId: string; id: string }>(
      `SELECT "id", "account_id" AS "accountId" FROM "program_grant"
       WHERE "sid" = $1 AND "resource_server" = $2`,
      [sid, resourceServer],
    );
    return found ?? null;
  }
}

export function judgeAt(until: number): Date | null {
  return Number.isFinite(until) ? new Date(until) : null;
}
