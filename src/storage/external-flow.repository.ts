import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database, type Query } from './database.js';
import { BrokenSealError, SealedBox, type SealPurpose } from './sealed-box.js';

/** Things that are handed out once and taken once, with their tables. */
const TABLES = {
  'external-flow': { table: 'external_flow', key: 'state_hash' },
  'external-pending': { table: 'external_pending', key: 'pending_hash' },
  // A proven identity that waits for its client too; another kind of seal, so neither opens as the other.
  'mtls-claim': { table: 'external_pending', key: 'pending_hash' },
} as const satisfies Partial<Record<SealPurpose, object>>;

type Kind = keyof typeof TABLES;

/**
 * Logins through a provider while they are under way. A row is found only by the secret that was
 * handed out, is opened only by this server, and is taken by exactly one caller.
 */
@Injectable()
export class ExternalFlowRepository {
  constructor(
    private readonly database: Database,
    private readonly box: SealedBox,
  ) {}

  /** @param contents sealed before they are stored */
  async add(kind: Kind, secret: string, contents: object, expiresAt: Date): Promise<void> {
    const { table, key } = TABLES[kind];
    const hash = hashOf(secret);
    const sealed = this.box.seal(kind, hash.toString('hex'), JSON.stringify(contents));
    await this.database.query(
      `INSERT INTO "${table}" ("${key}", "contents", "expires_at") VALUES ($1, $2, $3)`,
      [hash, sealed, expiresAt],
    );
  }

  /**
   * Takes the contents, once.
   *
   * @param query of the transaction that uses them: when it fails they are still there
   * @returns null when there are none, they have expired, or nobody can open them any more
   */
  async take<Contents>(
    kind: Kind,
    secret: string,
    now: Date,
    query: Query = this.database.query,
  ): Promise<Contents | null> {
    const { table, key } = TABLES[kind];
    const hash = hashOf(secret);
    const [taken] = await query<{ contents: Buffer; expiresAt: Date }>(
      `DELETE FROM "${table}" WHERE "${key}" = $1
       RETURNING "contents", "expires_at" AS "expiresAt"`,
      [hash],
    );
    if (taken === undefined || taken.expiresAt <= now) {
      return null;
    }
    try {
      return JSON.parse(this.box.open(kind, hash.toString('hex'), taken.contents)) as Contents;
    } catch (error) {
      if (error instanceof BrokenSealError) {
        return null;
      }
      throw error;
    }
  }

  /**
   * Takes the contents, once, when the caller may have them.
   *
   * @param check throws to refuse: they are still there then
   * @returns as {@link take}
   */
  takeChecked<Contents>(
    kind: Kind,
    secret: string,
    now: Date,
    check: (contents: Contents) => void,
  ): Promise<Contents | null> {
    return this.database.transaction(async (query) => {
      const contents = await this.take<Contents>(kind, secret, now, query);
      if (contents !== null) {
        check(contents);
      }
      return contents;
    });
  }

  /** Gives a pending login up, known or not. */
  async drop(secret: string): Promise<void> {
    await this.database.query(`DELETE FROM "external_pending" WHERE "pending_hash" = $1`, [
      hashOf(secret),
    ]);
  }
}

function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}
