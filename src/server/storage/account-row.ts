import { AppError, orRefuse } from '../../common/errors.js';
import type { Transaction } from './database.service.js';

/** @throws AppError `token-revoked` without a row: the account and its tokens were deleted */
export function accountRow<Row>(row: Row | null | undefined): Row {
  return orRefuse(row, 'token-revoked');
}

/** Locks the account until the commit. It is the first lock of a transaction: no deadlocks. */
export async function lockAccount(tx: Transaction, accountId: string): Promise<void> {
  await tx.query(`SELECT FROM "account" WHERE "id" = $1 FOR UPDATE`, [accountId]);
}

/**
 * Prevents that devices are added to these accounts until the transaction ends, so that the next
 * statement sees every session that inherits from those it ends.
 */
export async function holdAccounts(tx: Transaction, accountIds: readonly string[]): Promise<void> {
  await tx.query(
    `SELECT FROM "account" WHERE "id" = ANY($1::uuid[]) ORDER BY "id" FOR NO KEY UPDATE`,
    [accountIds],
  );
}

const IS_LIVE = `
  SELECT FROM "session" JOIN "account" ON "account"."id" = "session"."account_id"
    AND "account"."token_epoch" = "session"."token_epoch"
  WHERE "session"."id" = $2 AND "account_id" = $1`;

/**
 * Call it with the account locked: a transaction that ends the session waits for that lock, and then
 * also removes what the session has stored.
 *
 * @throws AppError `token-revoked` when the session has ended
 */
export async function requireLiveSession(
  tx: Transaction,
  accountId: string,
  sessionId: string,
): Promise<void> {
  if ((await tx.query(IS_LIVE, [accountId, sessionId])).length === 0) {
    throw new AppError('token-revoked');
  }
}

/**
 * Returns the next `seq`, within the transaction of its change: a rollback leaves no gap.
 * @throws AppError `token-revoked` when the account is deleted
 */
export async function nextUpdateSeq(tx: Transaction, accountId: string): Promise<number> {
  const [row] = await tx.query<{ seq: string }>(
    `UPDATE "account" SET "update_seq" = "update_seq" + 1 WHERE "id" = $1
     RETURNING "update_seq" AS "seq"`,
    [accountId],
  );
  return Number(accountRow(row).seq);
}
