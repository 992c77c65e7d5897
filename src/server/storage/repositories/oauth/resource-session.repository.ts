import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Random } from '../../../../common/runtime/random.js';
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
  SELECT "resource_session"."id", "login"."expires_at" AS "expiresAt",
    "login"."authenticatedAt", "login"."method", ${PERSON_OF_LOGIN}
  FROM "resource_session" JOIN (
    SELECT "id", "account_id", "expires_at", ${AUTHENTICATED_AT} AS "authenticatedAt",
      ${AUTHENTICATED_BY} AS "method"
    FROM "session") AS "login" ON "login"."id" = "resource_session"."session_id"
  WHERE "session_id" = $1 AND "resource_server" = $2
    AND "resource_session"."account_id" = "login"."account_id"
    AND "resource_session"."expires_at" = "login"."expires_at"
    AND "judge_at" IS NOT DISTINCT FROM $3 AND "rules" IS NOT DISTINCT FROM $4
    AND "txn" IS NULL`;

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

type OpenedRow = InDates<ResourceSession, 'expiresAt' | 'authenticatedAt'>;

/** Sessions at backends: one for each session and backend. */
@Injectable()
export class ResourceSessionRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly random: Random,
    @InjectRepository(ResourceSessionEntity)
    private readonly resourceSessions: Repository<ResourceSessionEntity>,
  ) {}

  /**
   * Finds the session at a backend that an earlier exchange stored with the same judgement. Without
   * a lock: a transaction that ends access after this read finds the stored session.
   * @param judgement read from storage before this call, so that an end in between is noticed
   * @returns null when there is something to store
   */
  async findOpen(
    { sessionId, resourceServer }: ResourceSessionKey,
    { until, rules }: Judgement,
  ): Promise<ResourceSession | null> {
    const values = [sessionId, resourceServer, judgeAt(until), rules];
    const [found] = await this.database.query<OpenedRow>(FIND_OPEN, values);
    return found === undefined ? null : inMilliseconds(found);
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
      const values = [this.random.uuid(), sessionId, resourceServer, judgeAt(until), rules];
      const [opened] = await tx.query<OpenedRow>(OPEN, values);
      if (opened === undefined) {
        throw new Error('A session without a row was admitted.');
      }
      return inMilliseconds(opened);
    });
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
