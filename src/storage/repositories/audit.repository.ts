import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { MoreThan, MoreThanOrEqual, type Repository } from 'typeorm';
import type { AuditEvent, StoredAuditEvent } from '../../policy/audit-event.js';
import { Database, type Query } from '../database.js';
import { deleteBatch } from './expired-rows.repository.js';
import { AuditEventEntity } from '../entities/audit-event.entity.js';

const RETAINED = { table: 'audit_event', key: 'id', column: 'at' };
const MAX_REASON_LENGTH = 500;

/** The audit log. Rows are added, and deleted when their retention ends; none is updated. */
@Injectable()
export class AuditRepository {
  constructor(
    private readonly database: Database,
    @InjectRepository(AuditEventEntity) private readonly events: Repository<AuditEventEntity>,
  ) {}

  /** Adds these events, by one statement. */
  add(events: readonly AuditEvent[], now: Date): Promise<void> {
    return insertAuditEvents(this.database.query, events, now);
  }

  /**
   * One page of events from `since` on, oldest first.
   *
   * @param afterId the last id of the page before; '0' for the first page
   */
  async page(since: Date, afterId: string, limit: number): Promise<StoredAuditEvent[]> {
    const events = await this.events.find({
      where: { at: MoreThanOrEqual(since), id: MoreThan(afterId) },
      order: { id: 'ASC' },
      take: limit,
    });
    return events.map(({ at, provider, reason, sessionId, address, ...event }) => ({
      ...event,
      at: at.getTime(),
      ...(sessionId !== null && { sessionId }),
      ...(address !== null && { address }),
      ...(provider !== null && { provider }),
      ...(reason !== null && { reason }),
    }));
  }

  /** Deletes events up to `limit`, as {@link deleteBatch}. */
  deleteUntil(limit: Date): Promise<boolean> {
    return deleteBatch(this.database.query, RETAINED, limit);
  }
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
