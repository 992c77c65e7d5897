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

/** Ends requests whose time is over. {@link ExpiredRowsRepository} deletes old ones. */
@Injectable()
export class RequestRetentionRepository {
  constructor(private readonly database: DatabaseService) {}

  /** Expires at most one batch of requests and drops their content; says whether there may be more. */
  async expireBatch(now: Date) {
    const { length: expired } = await this.database.query(EXPIRE, [now]);
    return { expired, isMore: expired === BATCH };
  }
}
