import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';

/** Logout tokens that were used: each passes once. */
@Injectable()
export class LogoutTokenRepository {
  constructor(private readonly database: Database) {}

  /** @returns false when this provider's token of that id was used before */
  async use(provider: string, tokenId: string, expiresAt: Date): Promise<boolean> {
    const hash = createHash('sha256')
      .update(JSON.stringify([provider, tokenId]))
      .digest();
    const used = await this.database.query(
      `INSERT INTO "logout_token" ("token_hash", "expires_at") VALUES ($1, $2)
       ON CONFLICT ("token_hash") DO NOTHING RETURNING 1`,
      [hash, expiresAt],
    );
    return used.length === 1;
  }
}
