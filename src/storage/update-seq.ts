import type { Query } from './database.js';

/**
 * Takes the account's next `seq` in the transaction that makes the change, which it also
 * serialises: no number is sent for a change that was rolled back, and none is given twice.
 *
 * @returns null when the account is gone
 */
export async function nextUpdateSeq(query: Query, accountId: string): Promise<number | null> {
  const [row] = await query<{ seq: string }>(
    `UPDATE "account" SET "update_seq" = "update_seq" + 1 WHERE "id" = $1
     RETURNING "update_seq" AS "seq"`,
    [accountId],
  );
  return row === undefined ? null : Number(row.seq);
}
