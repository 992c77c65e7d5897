import { Injectable } from '@nestjs/common';
import { sha256 } from '../../../../common/sha256.js';
import { DatabaseService } from '../../database.service.js';

/** Assertions of backends that were used. {@link ExpiredRowsRepository} deletes old ones. */
@Injectable()
export class ClientAssertionRepository {
  constructor(private readonly database: DatabaseService) {}

  /** @returns true for exactly one caller with this id of this backend */
  async use(resourceServer: string, tokenId: string, expiresAt: Date): Promise<boolean> {
    const hash = sha256(JSON.stringify([resourceServer, tokenId]));
    const added = await this.database.query(
      `INSERT INTO "client_assertion" ("assertion_hash", "expires_at") VALUES ($1, $2)
       ON CONFLICT ("assertion_hash") DO NOTHING RETURNING 1`,
      [hash, expiresAt],
    );
    return added.length > 0;
  }
}
