import { lowerAscii } from '../../../../common/lower-ascii.js';
import { sha256 } from '../../../../common/sha256.js';
import type { SubjectName } from '../../../../core/policy/eligibility/subject-identifier.js';
import { lockNamed } from '../../advisory-locks.js';
import type { Transaction } from '../../database.service.js';

/** Longer than an administrator's session, and than a login from the answer of the provider to its end. */
const WAITING_MS = 25 * 3_600_000;

/** The object of a sign-out: a person, or a session at the provider. */
export type SignedOut = (SubjectName | { readonly session: string }) & {
  /** Absent = the sign-out. Only logins that are being finished look for the others. */
  readonly waits?: 'refusal' | 'recheck';
};

/** Marks names for a check of the person, or for a refusal of earlier logins that ends no session. */
export function waitingFor(
  waits: 'refusal' | 'recheck',
  names: readonly SubjectName[],
): SignedOut[] {
  return names.map((name) => ({ ...name, waits }));
}

const ADD = `
  INSERT INTO "waiting_sign_out" ("name_hash", "at", "expires_at")
  SELECT DISTINCT "name_hash", $2::timestamptz, $3::timestamptz FROM unnest($1::bytea[]) AS "name_hash"
  ON CONFLICT ("name_hash") DO UPDATE
    SET "at" = GREATEST("waiting_sign_out"."at", EXCLUDED."at"), "expires_at" = EXCLUDED."expires_at"`;

/** Call it before other locks are taken: a login that stores an identity or a session has these, too. */
export function lockSignOuts(
  tx: Transaction,
  provider: string,
  names: readonly SignedOut[],
): Promise<void> {
  const hashes = hashesOf(provider, names);
  return lockNamed(
    tx,
    hashes.map((hash) => `gatehouse sign-out ${hash.toString('hex')}`),
  );
}

/** Keeps a sign-out for administrators, and for logins that are being finished, whose identity or session is not stored yet. */
export async function keepSignOut(
  tx: Transaction,
  provider: string,
  names: readonly SignedOut[],
  at: Date,
  now: Date,
): Promise<void> {
  const expiresAt = new Date(now.getTime() + WAITING_MS);
  await tx.query(ADD, [hashesOf(provider, names), at, expiresAt]);
}

/** Returns true if one of the names was signed out since a login. */
export async function isSignedOut(
  tx: Transaction,
  provider: string,
  names: readonly SignedOut[],
  loggedInAt: Date,
): Promise<boolean> {
  const found = await tx.query(
    `SELECT 1 FROM "waiting_sign_out" WHERE "name_hash" = ANY($1::bytea[]) AND "at" >= $2 LIMIT 1`,
    [hashesOf(provider, names), loggedInAt],
  );
  return found.length > 0;
}

function hashesOf(provider: string, names: readonly SignedOut[]): Buffer[] {
  return names.map((name) => {
    const named = 'email' in name ? { ...name, email: lowerAscii(name.email) } : name;
    return sha256(JSON.stringify([provider, named]));
  });
}
