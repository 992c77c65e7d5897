import { AppError, orRefuse } from '../../common/errors.js';
import type { Transaction } from './database.service.js';

/** @throws AppError `token-revoked` without a row: the account and its tokens were deleted */
export function accountRow<Row>(row: Row | null | undefined): Row {
  return orRefuse(row, 'token-revoked');
}

/**
 * Locks the identity until the commit, against deadlocks before all else that is stored about its person: the words
 * of directories and events, whose triggers lock the account, and the account with its sessions.
 * @returns the account; null = there is no such identity
 */
export async function lockIdentity(
  tx: Transaction,
  { provider, subject }: { readonly provider: string; readonly subject: string },
): Promise<string | null> {
  const [identity] = await tx.query<{ accountId: string }>(
    `SELECT "account_id" AS "accountId" FROM "identity"
     WHERE "provider" = $1 AND "subject" = $2 FOR UPDATE`,
    [provider, subject],
  );
  return identity?.accountId ?? null;
}

/** {@link lockIdentity} of all identities of an account. */
export function lockIdentitiesOf(
  tx: Transaction,
  accountId: string,
): Promise<{ readonly provider: string; readonly subject: string }[]> {
  return tx.query(
    `SELECT "provider", "subject" FROM "identity" WHERE "account_id" = $1 ORDER BY "id" FOR UPDATE`,
    [accountId],
  );
}

/** Locks the account until the commit: first, or after {@link lockIdentity}. */
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

/** The session of a caller. */
export interface CallingSession {
  readonly accountId: string;
  readonly sessionId: string;
}

const LIVE = `
  SELECT "disabled_at" IS NOT NULL AS "isDisabled" FROM "session" JOIN "account" ON "account"."id" = "session"."account_id"
    AND "account"."token_epoch" = "session"."token_epoch"
  WHERE "session"."id" = $2 AND "account_id" = $1`;

/**
 * Call it with the account locked: a transaction that ends the session waits for that lock, and then
 * also removes what the session has stored.
 *
 * @throws AppError `token-revoked` when the session has ended, `account-disabled`
 */
export async function requireLiveSession(
  tx: Transaction,
  accountId: string,
  sessionId: string,
): Promise<void> {
  const [live] = await tx.query<{ isDisabled: boolean }>(LIVE, [accountId, sessionId]);
  if (accountRow(live).isDisabled) {
    throw new AppError('account-disabled');
  }
}

/**
 * Holds the account of a caller whose session still goes on: facts in memory may be some seconds old, and the request
 * may have waited. Call it first, or after {@link lockIdentity}.
 *
 * @throws AppError as {@link requireLiveSession}
 */
export async function holdCaller(
  tx: Transaction,
  { accountId, sessionId }: CallingSession,
): Promise<void> {
  await holdAccounts(tx, [accountId]);
  await requireLiveSession(tx, accountId, sessionId);
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
