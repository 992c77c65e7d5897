import { AppError } from '../common/errors.js';
import type { Query } from './database.js';

/** @throws AppError `token-revoked` when there is no row: the account is gone, and its tokens with it */
export function accountRow<Row>(row: Row | null | undefined): Row {
  if (row === null || row === undefined) {
    throw new AppError('token-revoked');
  }
  return row;
}

/** Locks the account until the transaction ends: first, so that all lock in the same order. */
export async function lockAccount(query: Query, accountId: string): Promise<void> {
  await query(`SELECT FROM "account" WHERE "id" = $1 FOR UPDATE`, [accountId]);
}

/**
 * Takes the account's next `seq` in the transaction that makes the change, which it also
 * serialises: a change that is rolled back takes no number, and no two changes have the same.
 *
 * @throws AppError `token-revoked` when the account is gone
 */
export async function nextUpdateSeq(query: Query, accountId: string): Promise<number> {
  const [row] = await query<{ seq: string }>(
    `UPDATE "account" SET "update_seq" = "update_seq" + 1 WHERE "id" = $1
     RETURNING "update_seq" AS "seq"`,
    [accountId],
  );
  return Number(accountRow(row).seq);
}
