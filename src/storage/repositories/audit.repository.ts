import { Injectable } from '@nestjs/common';
import {
  toOperatorName,
  type AuditEvent,
  type AuditKind,
  type StoredAuditEvent,
} from '../../policy/audit-event.js';
import { Parameters, readPage, type PageParts } from '../bounded-page.js';
import { Database, type Query } from '../database.js';
import { deleteBatch } from './expired-rows.repository.js';
import { AuditEventEntity } from '../entities/audit-event.entity.js';

const RETAINED = { table: 'audit_event', key: 'id', column: 'at' };
const MAX_REASON_LENGTH = 500;

/** What to search events by; all that is given must match. Times are Unix milliseconds. */
export interface AuditFilter {
  /** The first moment. */
  readonly since?: number | undefined;
  /** The moment behind the last. */
  readonly until?: number | undefined;
  readonly kind?: AuditKind | undefined;
  readonly accountId?: string | undefined;
  readonly actor?: string | undefined;
}

export const AUDIT_ORDERS = ['newest-first', 'oldest-first'] as const;

export type AuditOrder = (typeof AUDIT_ORDERS)[number];

/** The event behind which a page begins. */
export interface AuditPosition {
  /** Unix milliseconds. */
  readonly at: number;
  readonly id: string;
}

export interface AuditPage {
  readonly events: readonly StoredAuditEvent[];
  /** null = this is the last page. A page before the last can have fewer events than its limit. */
  readonly next: AuditPosition | null;
}

const OF_OPERATORS = `"actor" NOT IN ('user', 'system', 'provider')`;

/** The audit log. Rows are added, and deleted when their retention ends; none is updated. */
@Injectable()
export class AuditRepository {
  constructor(private readonly database: Database) {}

  /** Adds these events, by one statement. */
  add(events: readonly AuditEvent[], now: Date): Promise<void> {
    return insertAuditEvents(this.database.query, events, now);
  }

  /**
   * One page of events.
   *
   * @param after `next` of the page before; null for the first page
   */
  async page(
    filter: AuditFilter,
    after: AuditPosition | null,
    { order, limit }: { readonly order: AuditOrder; readonly limit: number },
  ): Promise<AuditPage> {
    const parameters = new Parameters();
    const parts = { ...searchFor(filter, after, order, parameters), parameters, limit };
    const { rows, last } = await readPage<EventRow>(this.database.query, parts);
    return {
      events: rows.map(toStored),
      next: last && { at: last.at.getTime(), id: last.id },
    };
  }

  /** Deletes events up to `limit`, as {@link deleteBatch}. */
  deleteUntil(limit: Date): Promise<boolean> {
    return deleteBatch(this.database.query, RETAINED, limit);
  }
}

type EventRow = Omit<AuditEventEntity, 'accountId' | 'sessionId' | 'invitationId'> & {
  readonly account_id: string | null;
  readonly session_id: string | null;
  readonly invitation_id: string | null;
};

const COLUMNS = [
  ...['id', 'at', 'kind', 'actor', 'account_id', 'provider', 'reason', 'session_id'],
  ...['address', 'invitation_id', 'count'],
].map((name) => `"${name}"`);

/** The filter with the most selective index leads; the others judge the events that it gives. */
function searchFor(
  { since, until, kind, accountId, actor }: AuditFilter,
  after: AuditPosition | null,
  order: AuditOrder,
  parameters: Parameters,
): Pick<PageParts, 'source' | 'conditions'> {
  const equal = (column: string, value: unknown, index: string | null) =>
    value === undefined ? [] : [{ sql: `"${column}" = ${parameters.bind(value)}`, index }];
  const isOperator = actor !== undefined && toOperatorName(actor) !== null;
  // The conditions of the indexes, literal: so that a plan for any value uses them.
  const wanted = [
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
      SELECT ${COLUMNS.join(', ')} FROM "audit_event" WHERE ${['true', ...bounds].join(' AND ')}
      ORDER BY "at" ${direction}, "id" ${direction} LIMIT ${limit}`,
    conditions: wanted.filter((one) => one !== leading).map(({ sql }) => sql),
  };
}

function toStored(event: EventRow): StoredAuditEvent {
  const { id, at, kind, actor, provider, reason, address, count } = event;
  const { account_id: accountId, session_id: sessionId, invitation_id: invitationId } = event;
  return {
    ...{ id, at: at.getTime(), kind, actor, accountId, count },
    ...(sessionId !== null && { sessionId }),
    ...(address !== null && { address }),
    ...(invitationId !== null && { invitationId }),
    ...(provider !== null && { provider }),
    ...(reason !== null && { reason }),
  };
}

/** Adds events in the caller's transaction, so that a change and its event are stored together. */
export async function insertAuditEvents(
  { manager }: Query,
  events: readonly AuditEvent[],
  now: Date,
): Promise<void> {
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
