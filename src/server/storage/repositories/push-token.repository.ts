import { Injectable } from '@nestjs/common';
import { Runtime } from '../../../common/runtime/runtime.js';
import { sha256 } from '../../../common/sha256.js';
import type { AuditEvent } from '../../../core/policy/audit-event.js';
import { batched } from '../batched.js';
import { DatabaseService, type Transaction } from '../database.service.js';
import { PushTokenEntity } from '../entities/push-token.entity.js';
import { inMilliseconds, type InMilliseconds } from '../milliseconds.js';
import { lockAccount, nextUpdateSeq, requireLiveSession } from '../account-row.js';
import { insertAuditEvents } from './audit.repository.js';

export type PushTokenFacts = Pick<PushTokenEntity, 'clientServerUrl' | 'name' | 'platform'>;

/** Times are Unix milliseconds. */
export type PushToken = Omit<
  InMilliseconds<PushTokenEntity>,
  'accountId' | 'tokenHash' | 'sessionId'
>;

/** Limit of tokens; beyond it the least recently used one is removed (contract, Push tokens). */
const MAX_PER_ACCOUNT = 100;
/** Together with the limit per account, this bounds the rows of one statement. */
const LISTS_AT_ONCE = 50;

const LIST = `
  SELECT "id", "account_id" AS "accountId", "token", "client_server_url" AS "clientServerUrl",
    "name", "platform", "created_at" AS "createdAt", "updated_at" AS "updatedAt"
  FROM "push_token" WHERE "account_id" = ANY($1) ORDER BY "updated_at" DESC, "id"`;

const REMOVE_SURPLUS = `
  DELETE FROM "push_token" WHERE "id" IN (
    SELECT "id" FROM "push_token" WHERE "account_id" = $1
    ORDER BY "updated_at" DESC, "id" OFFSET $2)
  RETURNING "token"`;

type Saver = Required<Pick<AuditEvent, 'sessionId'>> & { readonly accountId: string };

export interface TokenChange {
  readonly seq: number;
  readonly events: readonly AuditEvent[];
}

/** Uses SQL for the list: `find` takes twice the time, and senders read it often. */
@Injectable()
export class PushTokenRepository {
  /** Returns an account's tokens, newest first, by one statement for all simultaneous requests. */
  readonly list: (accountId: string) => Promise<PushToken[]>;

  constructor(
    private readonly database: DatabaseService,
    private readonly runtime: Runtime,
  ) {
    this.list = batched(runtime, (accountIds) => this.listAll(accountIds), {
      maxKeys: LISTS_AT_ONCE,
    });
  }

  /**
   * Saves a token, which belongs from then on to the session that saves it.
   * @throws AppError `token-revoked` when the session has ended
   */
  save(
    saver: Saver,
    token: string,
    facts: Partial<PushTokenFacts>,
    now: Date,
  ): Promise<TokenChange> {
    const { accountId, sessionId } = saver;
    return this.database.transaction(async (tx) => {
      const seq = await nextUpdateSeq(tx, accountId);
      await requireLiveSession(tx, accountId, sessionId);
      const key = { accountId, tokenHash: sha256(token) };
      const isKnown = await tx.manager.existsBy(PushTokenEntity, key);
      await upsert(tx, this.runtime.random.uuid(), saver, token, facts, now);
      const surplus = await tx.query<{ token: string }>(REMOVE_SURPLUS, [
        accountId,
        MAX_PER_ACCOUNT,
      ]);
      const by = { actor: 'user', ...saver } as const;
      const events = [
        ...(isKnown ? [] : [tokenEvent('push-token-added', token, by)]),
        ...surplus.map((removed) => tokenEvent('push-token-removed', removed.token, by)),
      ];
      await insertAuditEvents(tx, events, now);
      return { seq, events };
    });
  }

  /** @returns null when there was nothing to remove */
  remove(saver: Saver, token: string, now: Date): Promise<TokenChange | null> {
    const { accountId } = saver;
    return this.database.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const key = { accountId, tokenHash: sha256(token) };
      const { affected } = await tx.manager.delete(PushTokenEntity, key);
      if (affected === 0) {
        return null;
      }
      const events = [tokenEvent('push-token-removed', token, { actor: 'user', ...saver })];
      await insertAuditEvents(tx, events, now);
      return { seq: await nextUpdateSeq(tx, accountId), events };
    });
  }

  private async listAll(accountIds: readonly string[]): Promise<PushToken[][]> {
    const rows = await this.database.query<PushTokenEntity>(LIST, [accountIds]);
    const lists = new Map(accountIds.map((accountId): [string, PushToken[]] => [accountId, []]));
    rows.forEach(({ accountId, ...row }) => lists.get(accountId)?.push(inMilliseconds(row)));
    return accountIds.map((accountId) => lists.get(accountId) ?? []);
  }
}

const SHOWN_CHARACTERS = 4;

/** The audit event of a token: its last characters distinguish it, and never half of a short one. */
export function tokenEvent(
  kind: 'push-token-added' | 'push-token-removed',
  token: string,
  by: Omit<AuditEvent, 'kind'>,
): AuditEvent {
  const characters = [...token];
  const length = Math.min(SHOWN_CHARACTERS, Math.floor(characters.length / 2));
  return { ...by, kind, tokenEnd: characters.slice(characters.length - length).join('') };
}

async function upsert(
  tx: Transaction,
  id: string,
  { accountId, sessionId }: Saver,
  token: string,
  { clientServerUrl, name, platform }: Partial<PushTokenFacts>,
  now: Date,
): Promise<void> {
  const times = { createdAt: now, updatedAt: now };
  const tokenHash = sha256(token);
  const given = [
    ...(clientServerUrl === undefined ? [] : ['client_server_url']),
    ...(name === undefined ? [] : ['name']),
    ...(platform === undefined ? [] : ['platform']),
  ];
  await tx.manager
    .createQueryBuilder()
    .insert()
    .into(PushTokenEntity)
    .values({
      id,
      accountId,
      sessionId,
      token,
      tokenHash,
      ...times,
      clientServerUrl: clientServerUrl ?? null,
      name: name ?? null,
      platform: platform ?? null,
    })
    .orUpdate([...given, 'session_id', 'updated_at'], ['account_id', 'token_hash'])
    .updateEntity(false)
    .execute();
}
