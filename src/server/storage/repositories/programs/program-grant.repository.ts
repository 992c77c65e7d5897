import { Injectable } from '@nestjs/common';
import { Random } from '../../../../common/runtime/random.js';
import { sha256 } from '../../../../common/sha256.js';
import type { AuditEvent, EndEvent, SignalOrigin } from '../../../../core/policy/audit-event.js';
import { MAX_GRANTS } from '../../../../core/policy/programs/programs.js';
import { accountRow, holdAccounts, nextUpdateSeq } from '../../account-row.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { insertAuditEvents } from '../audit.repository.js';
import { AUTHENTICATED_AT, AUTHENTICATED_BY } from '../session.repository.js';
import { inMilliseconds, type InDates } from '../../milliseconds.js';

/** An approval to store. */
export interface NewGrant {
  readonly accountId: string;
  /** The approving session. */
  readonly sessionId: string;
  readonly resourceServer: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly address: string;
  /** null = a file, which gets its refresh token at once. */
  readonly code: NewCode | null;
  readonly grantedUntil: Date;
}

export interface NewCode {
  readonly text: string;
  readonly challenge: string;
  /** The address that receives it. */
  readonly redirectUri: string;
  readonly expiresAt: Date;
}

export interface AddedGrant {
  readonly id: string;
  /** Earlier than asked for where a certificate vouches for the approving session. */
  readonly grantedUntil: Date;
  /** As it was stored. */
  readonly event: AuditEvent;
  /** The ends of grants beyond the limit of the account, as they were stored. */
  readonly ended: readonly AuditEvent[];
  /** The number of the update that announces it. */
  readonly seq: number;
}

export interface ListedGrant {
  readonly id: string;
  readonly resourceServer: string;
  readonly clientId: string;
  readonly clientName: string;
  /** null = a file. */
  readonly redirectUri: string | null;
  readonly scopes: readonly string[];
  readonly kind: 'code' | 'file';
  /** The method of the login that approved it, as sessions name it. */
  readonly method: string;
  /** Unix milliseconds, as all times here. */
  readonly createdAt: number;
  readonly lastUsedAt: number;
  readonly lastAddress: string | null;
  readonly expiresAt: number;
}

interface GrantCount extends Pick<ListedGrant, 'resourceServer' | 'kind'> {
  readonly count: number;
}

/** The program that a grant is for. */
export type GrantedTo = Pick<ListedGrant, 'resourceServer' | 'clientId'>;

/** The actor who ends a grant, and the reason. A provider has a name, and its signal an origin. */
export type GrantEndedBy = SignalOrigin &
  Pick<AuditEvent, 'actor' | 'reason' | 'address' | 'provider'>;

/** SQL of rows, with its parameters. */
export interface RowCondition {
  readonly where: string;
  readonly parameters: readonly unknown[];
}

const endOfCertificate = (table: 'session' | 'program_grant'): string =>
  `to_timestamp(("${table}"."certificate" #>> '{facts,validity,notAfter}')::float8 / 1000)`;

/** A certificate that vouches for the session ends the grant with it (contract, Programs). */
const LATEST = `LEAST($12::timestamptz, ${endOfCertificate('session')})`;

const ADD = `
  INSERT INTO "program_grant" ("id", "account_id", "session_id", "resource_server", "client_id",
    "client_name", "redirect_uri", "scopes", "address", "code_hash", "code_challenge",
    "granted_until", "expires_at", "created_at", "last_used_at", "authenticated_at",
    "authenticated_by", "provider_session", "certificate", "kind")
  SELECT $1, "session"."account_id", "session"."id", $4, $5, $6, $7, $8::text[], $9, $10, $11,
    ${LATEST}, $13, $14, $14, ${AUTHENTICATED_AT}, ${AUTHENTICATED_BY}, "provider_session",
    "certificate", $15
  FROM "session" JOIN "account" ON "account"."id" = "session"."account_id"
    AND "account"."token_epoch" = "session"."token_epoch"
  WHERE "session"."id" = $3 AND "session"."account_id" = $2 AND "session"."expires_at" > $14
  RETURNING "granted_until" AS "grantedUntil"`;

/** Columns of {@link EndedRow}. */
const ENDED = `"account_id" AS "accountId", "resource_server" AS "resourceServer",
  "client_id" || CASE "kind" WHEN 'file' THEN ' (' || "client_name" || ')' ELSE '' END AS "program",
  "code_used_at" IS NOT NULL AS "isUsed"`;

/** The grant that was unused longest ends. */
const SURPLUS = `
  "id" IN (SELECT "id" FROM "program_grant" WHERE "account_id" = $1
    ORDER BY "last_used_at" DESC, "id" OFFSET ${MAX_GRANTS})`;

const LIST = `
  SELECT "id", "resource_server" AS "resourceServer", "client_id" AS "clientId",
    "client_name" AS "clientName", NULLIF("redirect_uri", '') AS "redirectUri", "scopes", "kind",
    "authenticated_by" AS "method", "created_at" AS "createdAt", "last_used_at" AS "lastUsedAt",
    "last_address" AS "lastAddress", "expires_at" AS "expiresAt"
  FROM "program_grant"
  WHERE "account_id" = $1 AND "expires_at" > $2 AND "code_used_at" IS NOT NULL
  ORDER BY "created_at" DESC, "id"`;

interface EndedRow {
  readonly accountId: string;
  /** The client id; of a file with its name. */
  readonly program: string;
  readonly resourceServer: string;
  readonly isUsed: boolean;
}

const COUNT = `
  SELECT "resource_server" AS "resourceServer", "kind", count(*)::int AS "count"
  FROM "program_grant" WHERE "expires_at" > now() AND "code_used_at" IS NOT NULL
  GROUP BY "resource_server", "kind"`;

const EXPIRED = `
  "id" IN (SELECT "id" FROM "program_grant" WHERE "expires_at" <= $1
    ORDER BY "expires_at" LIMIT 1000 FOR UPDATE SKIP LOCKED)`;

const OF_CERTIFICATE = `${endOfCertificate('program_grant')} <= "expires_at"`;

/** Longer than replicas take that are up to look for marks, each minute. */
const UNACCEPTED = '10 minutes';

const GRANTED = `
  SELECT "resource_server" AS "resourceServer", "client_id" AS "clientId",
    bool_or("unaccepted_at" IS NOT NULL) AS "isMarked"
  FROM "program_grant" GROUP BY "resource_server", "client_id"`;

const IS_OF = `"resource_server" = $1 AND "client_id" = $2`;

const setUnaccepted = (value: string, condition: string): string => `
  UPDATE "program_grant" SET "unaccepted_at" = ${value} WHERE "id" = ANY(ARRAY(
    SELECT "id" FROM "program_grant" WHERE ${IS_OF} AND "unaccepted_at" ${condition}
    FOR UPDATE SKIP LOCKED))`;

const ACCEPT = setUnaccepted('NULL', 'IS NOT NULL');
const MARK_UNACCEPTED = setUnaccepted('now()', 'IS NULL');

/** The grants of programs: their approval, list and end. A trigger reports each end to the backend. */
@Injectable()
export class ProgramGrantRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly random: Random,
  ) {}

  /**
   * Call it with the account held.
   * @throws AppError `token-revoked` when the approving session has ended
   */
  async add(tx: Transaction, grant: NewGrant, now: Date): Promise<AddedGrant> {
    const { accountId, sessionId, resourceServer, clientId, clientName, code } = grant;
    const id = this.random.uuid();
    const kind = code === null ? 'file' : 'code';
    const [added] = await tx.query<Pick<AddedGrant, 'grantedUntil'>>(ADD, [
      id,
      accountId,
      sessionId,
      resourceServer,
      clientId,
      clientName,
      code?.redirectUri ?? '',
      grant.scopes,
      grant.address,
      code && hashOfCode(code.text),
      code?.challenge,
      grant.grantedUntil,
      code?.expiresAt ?? grant.grantedUntil,
      now,
      kind,
    ]);
    const { grantedUntil } = accountRow(added);
    const about = { accountId, actor: 'user', sessionId, address: grant.address } as const;
    const program = kind === 'file' ? `${clientId} (${clientName})` : clientId;
    const detail = `${program} at ${resourceServer}: ${grant.scopes.join(' ')}`;
    const event: AuditEvent = { kind: 'program-approved', ...about, detail };
    const surplus = { where: SURPLUS, parameters: [accountId] };
    const ended = await deleteGrants(tx, surplus, { actor: 'system', reason: 'limit' });
    await insertAuditEvents(tx, [event, ...ended], now);
    const seq = await nextUpdateSeq(tx, accountId);
    return { id, grantedUntil, event, ended, seq };
  }

  /** Returns the end of the certificate that vouches for a session; null = there is none. */
  async certificateEnd(sessionId: string): Promise<number | null> {
    const [row] = await this.database.query<{ end: number | null }>(
      `SELECT ("certificate" #>> '{facts,validity,notAfter}')::float8 AS "end"
       FROM "session" WHERE "id" = $1`,
      [sessionId],
    );
    return row?.end ?? null;
  }

  /** Returns the grants whose code was used, newest first. */
  async list(accountId: string, now: Date): Promise<ListedGrant[]> {
    type Row = InDates<ListedGrant, 'createdAt' | 'lastUsedAt' | 'expiresAt'>;
    const rows = await this.database.query<Row>(LIST, [accountId, now]);
    return rows.map(inMilliseconds);
  }

  /** Counts the grants whose code was used, by backend and kind. */
  count(): Promise<GrantCount[]> {
    return this.database.query<GrantCount>(COUNT);
  }

  /** @returns the stored audit event; null when the account has no such grant */
  end(accountId: string, id: string, by: GrantEndedBy, now: Date): Promise<EndEvent | null> {
    return this.database.transaction(async (tx) => {
      await holdAccounts(tx, [accountId]);
      return endGrant(tx, { accountId, id }, by, now);
    });
  }

  /**
   * Marks the grants that are not accepted, and ends those that are marked for {@link UNACCEPTED}. A
   * replica that accepts a grant removes its mark: in a rollout, one with an earlier configuration must
   * not end what it does not know.
   * @returns the stored audit events, and true if grants are left that are not accepted
   */
  async endUnaccepted(
    isAccepted: (grant: GrantedTo) => boolean,
    now: Date,
  ): Promise<{ readonly ended: readonly EndEvent[]; readonly isLeft: boolean }> {
    const granted = await this.database.query<GrantedTo & { isMarked: boolean }>(GRANTED);
    const accepted = granted.filter((one) => isAccepted(one));
    const unaccepted = granted.filter((one) => !isAccepted(one));
    for (const { resourceServer, clientId } of accepted.filter(({ isMarked }) => isMarked)) {
      await this.database.query(ACCEPT, [resourceServer, clientId]);
    }
    const ended: EndEvent[] = [];
    for (const one of unaccepted) {
      await this.database.query(MARK_UNACCEPTED, [one.resourceServer, one.clientId]);
      ended.push(...(one.isMarked ? await this.endAllOf(one, now) : []));
    }
    return { ended, isLeft: unaccepted.length > 0 };
  }

  /** @returns the stored audit events: a code that was never used leaves none */
  deleteExpired(now: Date): Promise<EndEvent[]> {
    return this.database.transaction(async (tx) => {
      const parameters = [now];
      const ofCertificate = { where: `${EXPIRED} AND ${OF_CERTIFICATE}`, parameters };
      const others = { where: EXPIRED, parameters };
      const ended = [
        ...(await deleteGrants(tx, ofCertificate, { actor: 'system', reason: 'expired' })),
        ...(await deleteGrants(tx, others, { actor: 'system', reason: 'grant-expired' })),
      ];
      await insertAuditEvents(tx, ended, now);
      return ended;
    });
  }

  private endAllOf({ resourceServer, clientId }: GrantedTo, now: Date): Promise<EndEvent[]> {
    const isOf = `${IS_OF} AND "unaccepted_at" <= now() - interval '${UNACCEPTED}'`;
    return this.database.transaction(async (tx) => {
      const owners = await tx.query<{ id: string }>(
        `SELECT DISTINCT "account_id" AS "id" FROM "program_grant" WHERE ${isOf}`,
        [resourceServer, clientId],
      );
      const ids = owners.map(({ id }) => id);
      await holdAccounts(tx, ids);
      const ended = await deleteGrants(
        tx,
        {
          where: `${isOf} AND "account_id" = ANY($3::uuid[])`,
          parameters: [resourceServer, clientId, ids],
        },
        { actor: 'system', reason: 'configuration' },
      );
      await insertAuditEvents(tx, ended, now);
      return ended;
    });
  }
}

/** Call it with the account locked. @returns null when there is no such grant */
export async function endGrant(
  tx: Transaction,
  { accountId, id }: { readonly accountId: string; readonly id: string },
  by: GrantEndedBy,
  now: Date,
): Promise<EndEvent | null> {
  const [ended] = await tx.query<EndedRow>(
    `DELETE FROM "program_grant" WHERE "id" = $1 AND "account_id" = $2 RETURNING ${ENDED}`,
    [id, accountId],
  );
  if (ended === undefined) {
    return null;
  }
  const event = eventOf(ended, by);
  await insertAuditEvents(tx, [event], now);
  return event;
}

/**
 * Ends grants. Call it with their accounts locked, and before the sessions that approved them end: a
 * trigger ends those grants without an event of their own.
 * @returns the events to store: a code that was never used leaves none
 */
export async function deleteGrants(
  tx: Transaction,
  { where, parameters }: RowCondition,
  by: GrantEndedBy,
): Promise<EndEvent[]> {
  const ended = await tx.query<EndedRow>(
    `DELETE FROM "program_grant" WHERE ${where} RETURNING ${ENDED}`,
    [...parameters],
  );
  return ended.filter(({ isUsed }) => isUsed).map((one) => eventOf(one, by));
}

function eventOf({ accountId, program, resourceServer }: EndedRow, by: GrantEndedBy): EndEvent {
  const detail = `${program} at ${resourceServer}`;
  return { kind: 'program-ended', accountId, ...by, detail };
}

export function hashOfCode(code: string): Buffer {
  return sha256(code);
}
