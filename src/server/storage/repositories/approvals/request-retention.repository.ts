import { Injectable } from '@nestjs/common';
import { DatabaseService } from '../../database.service.js';

const BATCH = 500;

const EXPIRE = `
  UPDATE "agent_request" SET "state" = 'expired', "form" = NULL, "content" = NULL,
    "closed_at" = "expires_at"
  WHERE "id" IN (
    SELECT "id" FROM "agent_request" WHERE "state" = 'open' AND "expires_at" <= $1
    ORDER BY "expires_at" LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
  RETURNING 1`;

interface ExpiredBatch {
  readonly expired: number;
  /** True if there may be more. */
  readonly isMore: boolean;
}

/** Ends requests whose time is over. {@link ExpiredRowsRepository} deletes old ones. */
@Injectable()
export class RequestRetentionRepository {
  constructor(private readonly database: DatabaseService) {}

  /** Marks at most one batch of requests as expired, and drops their content. */
  async expireBatch(now: Date): Promise<ExpiredBatch> {
    const { length: expired } = await this.database.query(EXPIRE, [now]);
    return { expired, isMore: expired === BATCH };
  }
}
