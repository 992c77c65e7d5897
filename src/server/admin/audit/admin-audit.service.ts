import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import * as v from 'valibot';
import { Clock } from '../../../common/runtime/clock.js';
import { invalidRequest } from '../../../common/errors.js';
import { AccountAdminRepository } from '../../storage/repositories/account-admin.repository.js';
import {
  AuditRepository,
  type AuditFilter,
  type AuditOrder,
  type AuditPage,
  type AuditPosition,
} from '../../storage/repositories/audit.repository.js';
import { readCursor, writeCursor } from '../page-cursor.js';
import type { AuditPageDto, AuditQueryDto } from './admin-audit.dto.js';

const DEFAULT_PAGE = 50;
const LARGEST_PAGE = 200;
const DEFAULT_EXPORT = 100_000;
const EXPORT_PAGE = 500;

const POSITION = v.object({
  at: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Date.UTC(9999, 0))),
  id: v.pipe(v.string(), v.regex(/^\d{1,18}$/)),
});

@Injectable()
export class AdminAuditService {
  constructor(
    private readonly events: AuditRepository,
    private readonly accounts: AccountAdminRepository,
    private readonly clock: Clock,
  ) {}

  /** @throws AppError `invalid-request` for an invalid cursor */
  async page({
    cursor,
    limit = DEFAULT_PAGE,
    order,
    ...filter
  }: AuditQueryDto): Promise<AuditPageDto> {
    if (limit > LARGEST_PAGE) {
      throw invalidRequest('limit', `limit of a page must be at most ${LARGEST_PAGE}.`);
    }
    const { events, next } = await this.events.page(filter, readCursor(cursor, POSITION), {
      order,
      limit,
    });
    return { events: await this.accounts.withNames(events), cursor: writeCursor(next) };
  }

  /** Streams lines of JSON. A page is read when the previous one was sent: memory holds two. */
  export({ cursor, limit = DEFAULT_EXPORT, order, ...filter }: AuditQueryDto): Readable {
    const after = readCursor(cursor, POSITION);
    const until = Math.min(filter.until ?? Infinity, this.clock.now() + 1);
    // Each page is one chunk of text.
    return Readable.from(this.lines({ ...filter, until }, after, { order, limit }), {
      highWaterMark: 1,
    });
  }

  private async *lines(
    filter: AuditFilter,
    start: AuditPosition | null,
    { order, limit }: { readonly order: AuditOrder; readonly limit: number },
  ): AsyncGenerator<string> {
    let after = start;
    let left = limit;
    do {
      const page: AuditPage = await this.events.page(filter, after, {
        order,
        limit: Math.min(left, EXPORT_PAGE),
      });
      if (page.events.length > 0) {
        const events = await this.accounts.withNames(page.events);
        yield events.map((event) => `${JSON.stringify(event)}\n`).join('');
      }
      left -= page.events.length;
      after = page.next;
    } while (after !== null && left > 0);
  }
}
