import { Injectable } from '@nestjs/common';
import type { Content } from '../policy/content.js';
import { ContentAtRest, type ContentForm } from './content-at-rest.js';
import { Database, type Query } from './database.js';
import { nextUpdateSeq } from './update-seq.js';

/** What an account keeps to reach one connected service. */
export interface AccountCredential {
  readonly service: string;
  readonly content: Content;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** What an account's other credentials take up. */
export interface CredentialUse {
  readonly count: number;
  readonly bytes: number;
}

const COLUMNS = `"service", "form", "content" AS "bytes", "updated_at" AS "updatedAt"`;

@Injectable()
export class AccountCredentialsRepository {
  constructor(
    private readonly database: Database,
    private readonly atRest: ContentAtRest,
  ) {}

  /**
   * By name of the service.
   *
   * @throws BrokenSealError
   */
  async list(accountId: string): Promise<AccountCredential[]> {
    const rows = await this.database.query<CredentialRow>(
      `SELECT ${COLUMNS} FROM "account_credential" WHERE "account_id" = $1
       ORDER BY "service" COLLATE "C"`,
      [accountId],
    );
    return rows.map((row) => this.toCredential(accountId, row));
  }

  /** @throws BrokenSealError */
  async find(accountId: string, service: string): Promise<AccountCredential | null> {
    const [row] = await this.database.query<CredentialRow>(
      `SELECT ${COLUMNS} FROM "account_credential" WHERE "account_id" = $1 AND "service" = $2`,
      [accountId, service],
    );
    return row === undefined ? null : this.toCredential(accountId, row);
  }

  /** The services of an account that is locked. */
  async services(query: Query, accountId: string): Promise<string[]> {
    const rows = await query<{ service: string }>(
      `SELECT "service" FROM "account_credential" WHERE "account_id" = $1`,
      [accountId],
    );
    return rows.map(({ service }) => service);
  }

  /** What the credentials of an account that is locked take up, this service's aside. */
  async useBeside(query: Query, accountId: string, service: string): Promise<CredentialUse> {
    const [row] = await query<{ count: number; bytes: number }>(
      `SELECT count(*)::int AS "count", COALESCE(sum(octet_length("content")), 0)::int AS "bytes"
       FROM "account_credential" WHERE "account_id" = $1 AND "service" <> $2`,
      [accountId, service],
    );
    return row ?? { count: 0, bytes: 0 };
  }

  /** Keeps it for an account that is locked, in place of what was there. */
  async put(
    query: Query,
    accountId: string,
    service: string,
    content: Content,
    now: Date,
  ): Promise<void> {
    const { form, bytes } = this.atRest.store('account-credentials', content, accountId, service);
    await query(
      `INSERT INTO "account_credential" ("account_id", "service", "form", "content", "updated_at")
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT ("account_id", "service") DO UPDATE
       SET "form" = EXCLUDED."form", "content" = EXCLUDED."content",
         "updated_at" = EXCLUDED."updated_at"`,
      [accountId, service, form, bytes, now],
    );
  }

  /** @returns the `seq` of the update to send; null when there was nothing to remove */
  remove(accountId: string, service: string): Promise<number | null> {
    return this.database.transaction(async (query) => {
      // The account first, as everywhere: two that lock in two orders would wait for each other.
      await query(`SELECT FROM "account" WHERE "id" = $1 FOR UPDATE`, [accountId]);
      const removed = await query(
        `DELETE FROM "account_credential" WHERE "account_id" = $1 AND "service" = $2 RETURNING 1`,
        [accountId, service],
      );
      return removed.length === 0 ? null : nextUpdateSeq(query, accountId);
    });
  }

  private toCredential(accountId: string, row: CredentialRow): AccountCredential {
    const { service, form, bytes, updatedAt } = row;
    const stored = { form, bytes };
    const content = this.atRest.read('account-credentials', stored, accountId, service);
    return { service, content, updatedAt: updatedAt.getTime() };
  }
}

interface CredentialRow {
  readonly service: string;
  readonly form: ContentForm;
  readonly bytes: Buffer;
  readonly updatedAt: Date;
}
