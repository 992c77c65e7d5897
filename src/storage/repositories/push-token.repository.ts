import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { batched } from '../batched.js';
import { Database, type Query } from '../database.js';
import { PushTokenEntity } from '../entities/push-token.entity.js';
import { inMilliseconds, type InMilliseconds } from '../milliseconds.js';
import { lockAccount, nextUpdateSeq } from '../account-row.js';

/** What an app says of itself beside its token. */
export type PushTokenFacts = Pick<PushTokenEntity, 'clientServerUrl' | 'name' | 'platform'>;

/** Times are Unix milliseconds. */
export type PushToken = Omit<InMilliseconds<PushTokenEntity>, 'accountId' | 'tokenHash'>;

/** Beyond this the token unused for longest is removed (contract, Push tokens). */
const MAX_PER_ACCOUNT = 100;
/** Bounds the rows of one answer together with the bound of each account. */
const LISTS_AT_ONCE = 50;

const LIST = `
  SELECT "id", "account_id" AS "accountId", "token", "client_server_url" AS "clientServerUrl",
    "name", "platform", "created_at" AS "createdAt", "updated_at" AS "updatedAt"
  FROM "push_token" WHERE "account_id" = ANY($1) ORDER BY "updated_at" DESC, "id"`;

const REMOVE_SURPLUS = `
  DELETE FROM "push_token" WHERE "id" IN (
    SELECT "id" FROM "push_token" WHERE "account_id" = $1
    ORDER BY "updated_at" DESC, "id" OFFSET $2)`;

/** Push tokens of accounts. The list is SQL: `find` takes twice its time, and senders ask often. */
@Injectable()
export class PushTokenRepository {
  /** An account's tokens, newest first; one statement for all requests of the same moment. */
  readonly list = batched(
    async (accountIds: readonly string[]) => {
      const rows = await this.database.query<PushTokenEntity>(LIST, [accountIds]);
      const lists = new Map(accountIds.map((accountId): [string, PushToken[]] => [accountId, []]));
      rows.forEach(({ accountId, ...row }) => lists.get(accountId)?.push(inMilliseconds(row)));
      return accountIds.map((accountId) => lists.get(accountId) ?? []);
    },
    { maxKeys: LISTS_AT_ONCE },
  );

  constructor(private readonly database: Database) {}

  /**
   * @param facts those that are undefined stay as they are
   * @returns the `seq` of the update to send
   * @throws AppError `token-revoked`
   */
  save(
    accountId: string,
    token: string,
    facts: Partial<PushTokenFacts>,
    now: Date,
  ): Promise<number> {
    return this.database.transaction(async (query) => {
      const seq = await nextUpdateSeq(query, accountId);
      await upsert(query, accountId, token, facts, now);
      await query(REMOVE_SURPLUS, [accountId, MAX_PER_ACCOUNT]);
      return seq;
    });
  }

  /** @returns the `seq` of the update to send; null when there was nothing to remove */
  remove(accountId: string, token: string): Promise<number | null> {
    return this.database.transaction(async (query) => {
      await lockAccount(query, accountId);
      const key = { accountId, tokenHash: hashOf(token) };
      const { affected } = await query.manager.delete(PushTokenEntity, key);
      return affected === 0 ? null : nextUpdateSeq(query, accountId);
    });
  }
}

async function upsert(
  query: Query,
  accountId: string,
  token: string,
  { clientServerUrl, name, platform }: Partial<PushTokenFacts>,
  now: Date,
): Promise<void> {
  const times = { createdAt: now, updatedAt: now };
  const tokenHash = hashOf(token);
  const given = [
    ...(clientServerUrl === undefined ? [] : ['client_server_url']),
    ...(name === undefined ? [] : ['name']),
    ...(platform === undefined ? [] : ['platform']),
  ];
  await query.manager
    .createQueryBuilder()
    .insert()
    .into(PushTokenEntity)
    .values({
      ...{ id: randomUUID(), accountId, token, tokenHash, ...times },
      ...{ clientServerUrl: clientServerUrl ?? null, name: name ?? null },
      platform: platform ?? null,
    })
    .orUpdate([...given, 'updated_at'], ['account_id', 'token_hash'])
    .updateEntity(false)
    .execute();
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
