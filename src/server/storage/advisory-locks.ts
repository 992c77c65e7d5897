import type { Transaction } from './database.service.js';

/** The keys in ascending order, so that two transactions do not wait for each other. */
const LOCK = `
  SELECT pg_advisory_xact_lock("key") FROM (
    SELECT DISTINCT hashtextextended("name", 0) AS "key" FROM unnest($1::text[]) AS "name"
    ORDER BY "key" OFFSET 0) AS "keys"`;

/** Locks names until the transaction ends: rows of them may not exist yet. */
export async function lockNamed(tx: Transaction, names: readonly string[]): Promise<void> {
  if (names.length > 0) {
    await tx.query(LOCK, [names]);
  }
}
