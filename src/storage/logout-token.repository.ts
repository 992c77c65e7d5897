import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { DUE_NOW } from './identity-due.repository.js';

/** Logout tokens that were used: each passes once. */
@Injectable()
export class LogoutTokenRepository {
  constructor(private readonly database: Database) {}

  /**
   * Uses a token and makes the identity due that it is about, or does neither: a provider that was
   * told of a fault sends the same token again.
   *
   * @returns how many identities became due; null when this provider's token of that id was used before
   */
  async use(
    provider: string,
    { tokenId, subject }: { readonly tokenId: string; readonly subject: string },
    expiresAt: Date,
  ): Promise<number | null> {
    const hash = createHash('sha256')
      .update(JSON.stringify([provider, tokenId]))
      .digest();
    const [used] = await this.database.query<{ made: number }>(
      `WITH "used" AS (
         INSERT INTO "logout_token" ("token_hash", "expires_at") VALUES ($1, $2)
         ON CONFLICT ("token_hash") DO NOTHING RETURNING 1),
       "made" AS (
         UPDATE "identity" SET "eligibility_next_check_at" = ${DUE_NOW}
         WHERE "provider" = $3 AND "subject" = $4 AND EXISTS (SELECT FROM "used") RETURNING 1)
       SELECT (SELECT count(*)::int FROM "made") AS "made" FROM "used"`,
      [hash, expiresAt, provider, subject],
    );
    return used?.made ?? null;
  }
}
