import { createHash } from 'node:crypto';
import type { Transaction } from '../../database.service.js';
import type {
  IdentitySignalRepository,
  SignalSubject,
} from '../directory/identity-signal.repository.js';

/** A security event about the account of an e-mail address that no identity has yet. */
export interface EmailSignal {
  readonly provider: string;
  readonly email: string;
  readonly isAllowed: boolean;
  readonly at: Date;
}

/** The newest event wins; of two with the same time, the refusal. */
const STORE = `
  INSERT INTO "email_signal" ("provider", "email_hash", "is_allowed", "at") VALUES ($1, $2, $3, $4)
  ON CONFLICT ("provider", "email_hash") DO UPDATE
    SET "is_allowed" = EXCLUDED."is_allowed", "at" = EXCLUDED."at"
    WHERE EXCLUDED."at" > "email_signal"."at"
      OR (EXCLUDED."at" = "email_signal"."at" AND NOT EXCLUDED."is_allowed")
  RETURNING 1`;

/** Lets first logins with these addresses and events about them happen one after the other. */
export async function lockEmails(
  tx: Transaction,
  provider: string,
  emails: readonly string[],
): Promise<void> {
  const keys = emails.map((email) => `gatehouse email ${provider} ${email.toLowerCase()}`);
  for (const key of keys.sort()) {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [key]);
  }
}

/** @returns false for an event that is older than the stored one */
export async function storeEmailSignal(
  tx: Transaction,
  { provider, email, isAllowed, at }: EmailSignal,
): Promise<boolean> {
  const stored = await tx.query(STORE, [provider, hashOf(email), isAllowed, at]);
  return stored.length > 0;
}

/** Takes the event over to the subject of a login with the address, once. */
export async function takeEmailSignal(
  tx: Transaction,
  signals: IdentitySignalRepository,
  { provider, subject }: SignalSubject,
  email: string,
): Promise<void> {
  await lockEmails(tx, provider, [email]);
  const [taken] = await tx.query<Pick<EmailSignal, 'isAllowed' | 'at'>>(
    `DELETE FROM "email_signal" WHERE "provider" = $1 AND "email_hash" = $2
     RETURNING "is_allowed" AS "isAllowed", "at"`,
    [provider, hashOf(email)],
  );
  if (taken !== undefined) {
    await signals.store(tx, { provider, subject, source: 'shared-signals', ...taken });
  }
}

/** Removes the events about addresses that now belong to other people. */
export async function removeEmailSignals(
  tx: Transaction,
  provider: string,
  emails: readonly string[],
): Promise<void> {
  await tx.query(
    `DELETE FROM "email_signal" WHERE "provider" = $1 AND "email_hash" = ANY($2::bytea[])`,
    [provider, emails.map(hashOf)],
  );
}

/** Removes refusals, as an administrator decides. @returns true if there were any */
export async function removeEmailRefusals(
  tx: Transaction,
  provider: string,
  emails: readonly string[],
): Promise<boolean> {
  const removed = await tx.query(
    `DELETE FROM "email_signal"
     WHERE "provider" = $1 AND "email_hash" = ANY($2::bytea[]) AND NOT "is_allowed" RETURNING 1`,
    [provider, emails.map(hashOf)],
  );
  return removed.length > 0;
}

function hashOf(email: string): Buffer {
  return createHash('sha256').update(email.toLowerCase()).digest();
}
