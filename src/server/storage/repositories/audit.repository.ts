import { Injectable } from '@nestjs/common';
import {
  toOperatorName,
  type AuditEvent,
  type AuditKind,
  type StoredAuditEvent,
} from '../../../core/policy/audit-event.js';
import { Parameters, readPage, type PageParts } from '../bounded-page.js';
import { DatabaseService, type Transaction } from '../database.service.js';
import { deleteBatch } from './expired-rows.repository.js';
import { AuditEventEntity } from '../entities/audit-event.entity.js';

const RETAINED = { table: 'audit_event', key: 'id', column: 'at' };
/** The condition of their index, literally. */
const OF_REFUSALS = `"subject" IS NOT NULL OR "kind" = 'admin-refused'`;
const MAX_REASON_LENGTH = 500;

/** Times are Unix milliseconds. */
export interface AuditFilter {
  readonly since?: number | undefined;
  /** Exclusive. */
  readonly until?: number | undefined;
  readonly kind?: AuditKind | undefined;
  readonly accountId?: string | undefined;
  readonly actor?: string | undefined;
  /** The beginning of the subject, login or e-mail address of a refused person, without case. */
  readonly person?: string | undefined;
}

export const AUDIT_ORDERS = ['newest-first', 'oldest-first'] as const;

export type AuditOrder = (typeof AUDIT_ORDERS)[number];

export interface AuditPosition {
  readonly at: number;
  readonly id: string;
}

export interface AuditPage {
  readonly events: readonly StoredAuditEvent[];
  /** null = last page. An earlier page can have fewer events than its limit. */
  readonly next: AuditPosition | null;
}

const OF_PEOPLE = `"subject" IS NOT NULL`;
const OF_OPERATORS = `"actor" NOT IN ('user', 'system', 'provider')`;

interface LoginCountsRow {
  readonly bucket: number;
  readonly logins: number;
  readonly refusals: number;
}

/** Refused people are in the counts of refusals already, which have no subject. */
const LOGIN_COUNTS = `
  SELECT floor(EXTRACT(epoch FROM "at" - $1::timestamptz) * 1000 / $3::int)::int AS "bucket",
    (count(*) FILTER (WHERE "kind" = 'logged-in'))::int AS "logins",
    COALESCE(sum("count") FILTER (WHERE "kind" = 'login-refused'), 0)::float8 AS "refusals"
  FROM "audit_event"
  WHERE "at" >= $1::timestamptz AND "at" < $2::timestamptz
    AND ("kind" = 'logged-in' OR ("kind" = 'login-refused' AND "subject" IS NULL))
  GROUP BY "bucket"`;

/** The audit log. Rows are added, and deleted when their retention ends; none is updated. */
@Injectable()
export class AuditRepository {
  constructor(private readonly database: DatabaseService) {}

  add(events: readonly AuditEvent[], now: Date): Promise<void> {
    return this.database.transaction((tx) => insertAuditEvents(tx, events, now));
  }

  async page(
    filter: AuditFilter,
    after: AuditPosition | null,
    { order, limit }: { readonly order: AuditOrder; readonly limit: number },
  ): Promise<AuditPage> {
    const parameters = new Parameters();
    const parts = { ...searchFor(filter, after, order, parameters), parameters, limit };
    const { rows, last } = await readPage<EventRow>(this.database, parts);
    return {
      events: rows.map(toStored),
      next: last && { at: last.at.getTime(), id: last.id },
    };
  }

  /** Counts by buckets of this length; one without events has no row. @param until exclusive */
  loginCounts(since: Date, until: Date, bucketMs: number): Promise<LoginCountsRow[]> {
    return this.database.query<LoginCountsRow>(LOGIN_COUNTS, [since, until, bucketMs]);
  }

  deleteUntil(limit: Date): Promise<boolean> {
    return deleteBatch(this.database, RETAINED, limit);
  }

  /** Deletes refused people and refused administration calls, as {@link deleteBatch}. */
  deleteRefusalsUntil(limit: Date): Promise<boolean> {
    return deleteBatch(this.database, { ...RETAINED, where: OF_REFUSALS }, limit);
  }
}

/** Columns that are null where an event lacks the field. */
const OPTIONAL = [
  ...(['sessionId', 'address', 'subject', 'login', 'email', 'invitationId', 'tokenEnd'] as const),
  ...(['provider', 'reason', 'detail', 'issuer', 'signalTxn', 'txn'] as const),
];

type EventRow = Omit<AuditEventEntity, 'accountId'> & { readonly account_id: string | null };

/** Filters name the account as its column. */
const COLUMNS = `"id", "at", "kind", "actor", "account_id", "provider", "reason", "detail", "address",
  "session_id" AS "sessionId", "invitation_id" AS "invitationId", "token_end" AS "tokenEnd", "subject",
  "login", "email", "count", "txn", "issuer", "signal_txn" AS "signalTxn"`;

/** Chooses the filter with the most selective index; the others filter its rows. */
function searchFor(
  { since, until, kind, accountId, actor, person }: AuditFilter,
  after: AuditPosition | null,
  order: AuditOrder,
  parameters: Parameters,
): Pick<PageParts, 'source' | 'conditions'> {
  const equal = (column: string, value: unknown, index: string | null) =>
    value === undefined ? [] : [{ sql: `"${column}" = ${parameters.bind(value)}`, index }];
  const isOperator = actor !== undefined && toOperatorName(actor) !== null;
  // The conditions of the indexes are literals, so that a generic plan can use them.
  const wanted = [
    ...(person === undefined ? [] : [{ sql: ofPerson(parameters.bind(person)), index: OF_PEOPLE }]),
    ...equal('account_id', accountId, `"account_id" IS NOT NULL`),
    ...equal('actor', actor, isOperator ? OF_OPERATORS : null),
    ...equal('kind', kind, kind === 'logged-in' ? null : `"kind" <> 'logged-in'`),
  ];
  const leading = wanted.find(({ index }) => index !== null);
  const isOldestFirst = order === 'oldest-first';
  const bounds = [
    ...(leading === undefined ? [] : [leading.sql, leading.index]),
    ...(since === undefined ? [] : [`"at" >= ${parameters.bind(new Date(since))}`]),
    ...(until === undefined ? [] : [`"at" < ${parameters.bind(new Date(until))}`]),
    ...(after === null
      ? []
      : [
          `("at", "id") ${isOldestFirst ? '>' : '<'}
             (${parameters.bind(new Date(after.at))}::timestamptz, ${parameters.bind(after.id)}::bigint)`,
        ]),
  ];
  const direction = isOldestFirst ? 'ASC' : 'DESC';
  return {
    source: (limit) => `
      SELECT ${COLUMNS} FROM "audit_event" WHERE ${['true', ...bounds].join(' AND ')}
      ORDER BY "at" ${direction}, "id" ${direction} LIMIT ${limit}`,
    conditions: wanted.filter((one) => one !== leading).map(({ sql }) => sql),
  };
}

/** @param text the placeholder of its beginning */
function ofPerson(text: string): string {
  const begins = ['subject', 'login', 'email'].map(
    (column) => `starts_with(lower("${column}"), lower(${text}::text))`,
  );
  return `(${begins.join(' OR ')})`;
}

function toStored(row: EventRow): StoredAuditEvent {
  const { id, at, kind, actor, account_id: accountId, count } = row;
  const known = OPTIONAL.filter((name) => row[name] !== null);
  const fields = Object.fromEntries(known.map((name) => [name, row[name] ?? undefined]));
  return { id, at: at.getTime(), kind, actor, accountId, count, ...fields };
}

/** Adds events in the caller's transaction, so that a change and its event are stored together. */
export async function insertAuditEvents(
  { manager }: Transaction,
  events: readonly AuditEvent[],
  now: Date,
): Promise<void> {
  if (events.length === 0) {
    return;
  }
  await manager
    .createQueryBuilder()
    .insert()
    .into(AuditEventEntity)
    .values(
      events.map((event) => ({
        ...event,
        at: now,
        reason: event.reason?.slice(0, MAX_REASON_LENGTH),
      })),
    )
    .updateEntity(false)
    .execute();
}
