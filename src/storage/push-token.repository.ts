import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { batched } from './batched.js';
import { Database, type Query } from './database.js';
import { nextUpdateSeq } from './update-seq.js';

export interface PushToken {
  readonly id: string;
  readonly token: string;
  readonly clientServerUrl: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** More than this and the token unused longest gives way (contract, Push tokens). */
const MAX_PER_ACCOUNT = 100;
/** Bounds the rows of one answer together with the bound of each account. */
const LISTS_AT_ONCE = 50;

const LIST = `
  SELECT "id", "account_id", "token", "client_server_url", "created_at", "updated_at"
  FROM "push_token" WHERE "account_id" = ANY($1) ORDER BY "updated_at" DESC, "id"`;

@Injectable()
export class PushTokenRepository {
  /** An account's tokens, newest first; by one statement for all who ask at the same moment. */
  readonly list = batched(
    async (accountIds: readonly string[]) => {
      const rows = await this.database.query<PushTokenRow>(LIST, [accountIds]);
      const lists = new Map(accountIds.map((accountId): [string, PushToken[]] => [accountId, []]));
      rows.forEach((row) => lists.get(row.account_id)?.push(toPushToken(row)));
      return accountIds.map((accountId) => lists.get(accountId) ?? []);
    },
    { maxKeys: LISTS_AT_ONCE },
  );

  constructor(private readonly database: Database) {}

  /** @returns the `seq` of the update to send; null when the account is gone */
  save(
    accountId: string,
    token: string,
    clientServerUrl: string | null,
    now: Date,
  ): Promise<number | null> {
    return this.database.transaction(async (query) => {
      const seq = await nextUpdateSeq(query, accountId);
      if (seq === null) {
        return null;
      }
      await query(
        `INSERT INTO "push_token"
           ("id", "account_id", "token", "token_hash", "client_server_url", "created_at", "updated_at")
         VALUES ($1, $2, $3, $4, $5, $6, $6)
         ON CONFLICT ("account_id", "token_hash") DO UPDATE
         SET "client_server_url" = EXCLUDED."client_server_url", "updated_at" = EXCLUDED."updated_at"`,
        [randomUUID(), accountId, token, hashOf(token), clientServerUrl, now],
      );
      await dropBeyondBound(query, accountId);
      return seq;
    });
  }

  /** @returns the `seq` of the update to send; null when there was nothing to remove */
  remove(accountId: string, token: string): Promise<number | null> {
    return this.database.transaction(async (query) => {
      // The account first, as everywhere: else this and a save would wait for each other.
      await query(`SELECT FROM "account" WHERE "id" = $1 FOR UPDATE`, [accountId]);
      const removed = await query(
        `DELETE FROM "push_token" WHERE "account_id" = $1 AND "token_hash" = $2 RETURNING "id"`,
        [accountId, hashOf(token)],
      );
      return removed.length === 0 ? null : nextUpdateSeq(query, accountId);
    });
  }
}

interface PushTokenRow {
  readonly account_id: string;
  readonly id: string;
  readonly token: string;
  readonly client_server_url: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

function toPushToken(row: PushTokenRow): PushToken {
  return {
    id: row.id,
    token: row.token,
    clientServerUrl: row.client_server_url,
    createdAt: row.created_at.getTime(),
    updatedAt: row.updated_at.getTime(),
  };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function dropBeyondBound(query: Query, accountId: string): Promise<unknown> {
  return query(
    `DELETE FROM "push_token" WHERE "id" IN (
       SELECT "id" FROM "push_token" WHERE "account_id" = $1
       ORDER BY "updated_at" DESC, "id" OFFSET $2)`,
    [accountId, MAX_PER_ACCOUNT],
  );
}
