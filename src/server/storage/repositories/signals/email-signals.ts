import { In, LessThanOrEqual } from 'typeorm';
import { lowerAscii } from '../../../../common/lower-ascii.js';
import { sha256 } from '../../../../common/sha256.js';
import { lockNamed } from '../../advisory-locks.js';
import type { Transaction } from '../../database.service.js';
import { EmailSignalEntity } from '../../entities/identity-signal.entity.js';
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
export function lockEmails(
  tx: Transaction,
  provider: string,
  emails: readonly string[],
): Promise<void> {
  return lockNamed(
    tx,
    emails.map((email) => `gatehouse email ${provider} ${lowerAscii(email)}`),
  );
}

/** @returns false for an event that is older than the stored one */
export async function storeEmailSignal(
  tx: Transaction,
  { provider, email, isAllowed, at }: EmailSignal,
): Promise<boolean> {
  const stored = await tx.query(STORE, [provider, hashOf(email), isAllowed, at]);
  return stored.length > 0;
}

/** A login that proved an e-mail address. */
export interface EmailLogin extends SignalSubject {
  readonly email: string;
  readonly loggedInAt: Date;
}

/**
 * Takes the event over to the subject of a login with the address, once. A yes may be meant for the
 * owner before: it counts for a login after it, and only if the address stands for no other subject.
 */
export async function takeEmailSignal(
  tx: Transaction,
  signals: IdentitySignalRepository,
  { provider, subject, email, loggedInAt }: EmailLogin,
): Promise<void> {
  await lockEmails(tx, provider, [email]);
  const [taken] = await tx.query<Pick<EmailSignal, 'isAllowed' | 'at'>>(
    `DELETE FROM "email_signal" WHERE "provider" = $1 AND "email_hash" = $2
       AND (NOT "is_allowed" OR "at" <= $3)
     RETURNING "is_allowed" AS "isAllowed", "at"`,
    [provider, hashOf(email), loggedInAt],
  );
  if (taken === undefined) {
    return;
  }
  const owners = taken.isAllowed ? await ownersOf(tx, provider, [email]) : [];
  if (owners.every((owner) => owner.subject === subject)) {
    await signals.store(tx, { provider, subject, source: 'shared-signals', ...taken });
  }
}

/** A subject whose last login proved an address. */
interface EmailOwner {
  readonly subject: string;
  /** True if an event refuses it. */
  readonly isRefused: boolean;
}

/** More identities than this have one e-mail address only by a mistake of their provider. */
const MOST_OWNERS = 100;

export function ownersOf(
  tx: Transaction,
  provider: string,
  emails: readonly string[],
): Promise<EmailOwner[]> {
  return tx.query<EmailOwner>(
    `SELECT "subject", EXISTS (SELECT FROM "identity_signal" AS "signal"
       WHERE "signal"."provider" = $1 AND "signal"."subject" = "identity"."subject"
         AND "source" = 'shared-signals' AND NOT "is_allowed") AS "isRefused"
     FROM "identity" WHERE "provider" = $1 AND "facts" ->> 'emailVerified' = 'true'
       AND lower(("facts" ->> 'email') COLLATE "C") = ANY($2::text[])
     ORDER BY "subject" LIMIT ${MOST_OWNERS}`,
    [provider, emails.map(lowerAscii)],
  );
}

/** Removes the yes that is not newer than an event about the owner of an address. */
export async function removeOlderYes(
  tx: Transaction,
  provider: string,
  emails: readonly string[],
  at: Date,
): Promise<void> {
  const older = { isAllowed: true, at: LessThanOrEqual(at) };
  await tx.manager.delete(EmailSignalEntity, { ...of(provider, emails), ...older });
}

/** Removes the events about addresses that now belong to other people. */
export async function removeEmailSignals(
  tx: Transaction,
  provider: string,
  emails: readonly string[],
): Promise<void> {
  await tx.manager.delete(EmailSignalEntity, of(provider, emails));
}

/** Removes refusals, as an administrator decides. @returns true if there were any */
export async function removeEmailRefusals(
  tx: Transaction,
  provider: string,
  emails: readonly string[],
): Promise<boolean> {
  const refusals = { ...of(provider, emails), isAllowed: false };
  const { affected } = await tx.manager.delete(EmailSignalEntity, refusals);
  return affected !== 0;
}

function of(provider: string, emails: readonly string[]) {
  return { provider, emailHash: In(emails.map(hashOf)) };
}

function hashOf(email: string): Buffer {
  return sha256(lowerAscii(email));
}
