import { Injectable } from '@nestjs/common';
import type { AuditEvent, SignalOrigin } from '../../../../core/policy/audit-event.js';
import type { SignalFact, SignalSource } from '../../../../core/policy/eligibility/signals.js';
import type { SubjectName } from '../../../../core/policy/eligibility/subject-identifier.js';
import { holdAccounts, lockIdentitiesOf, lockIdentity, nextUpdateSeq } from '../../account-row.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../../database.service.js';
import { insertAuditEvents } from '../audit.repository.js';
import { makeIdentitiesDue } from '../identity-due.repository.js';
import { deleteGrants } from '../programs/program-grant.repository.js';
import { removeTokens } from '../session-end.repository.js';
import { AUTHENTICATED_AT, AUTHENTICATED_BY } from '../session.repository.js';
import { isSignedOut, waitingFor } from '../signals/waiting-sign-outs.js';

/** Pairs of a JSON object of the row `identity`: what the sources reported about it. */
export const SIGNALS_OF_IDENTITY = `
  'signals', COALESCE((SELECT json_agg(json_build_object('source', "source",
      'isAllowed', "is_allowed", 'at', floor(extract(epoch FROM "at") * 1000)) ORDER BY "source")
    FROM "identity_signal" WHERE "identity_signal"."provider" = "identity"."provider"
      AND "identity_signal"."subject" = "identity"."subject"), '[]'),
  'hasDirectory', EXISTS (SELECT FROM "directory"
    WHERE "directory"."provider" = "identity"."provider")`;

/** A person of a provider, with an identity here or without one. */
export interface SignalSubject {
  readonly provider: string;
  readonly subject: string;
}

export interface IdentitySignals {
  readonly signals: readonly SignalFact[];
  readonly hasDirectory: boolean;
}

interface NewSignal extends SignalSubject {
  readonly source: SignalSource;
  readonly isAllowed: boolean;
  /** Time of the event; null = none of its own: now, by the clock of the database that all replicas share. */
  readonly at: Date | null;
  /** The person of the directory whose word it is. Absent = the word of another source. */
  readonly personId?: string;
}

export interface SignalEffect {
  readonly accountId: string;
  readonly seq: number;
  /** The number of the removal of push tokens; null = none was removed. */
  readonly pushTokensSeq: number | null;
  /** As they were stored: the change of the identity, and then what ended with it. */
  readonly events: readonly AuditEvent[];
  /** True if the identity admits sessions again, because of a later login. */
  readonly isOutdated: boolean;
}

/**
 * The newest event wins; of two with the same time, the refusal. What has no time of its own is newer than all before
 * it, also where a clock was set back.
 */
const STORE = `
  WITH "former" AS MATERIALIZED (
    SELECT "is_allowed" FROM "identity_signal"
    WHERE "provider" = $1 AND "subject" = $2 AND "source" = $3),
  "stored" AS (
    INSERT INTO "identity_signal" ("provider", "subject", "source", "is_allowed", "at", "person_id")
    VALUES ($1, $2, $3, $4, COALESCE($5::timestamptz, clock_timestamp()), $6)
    ON CONFLICT ("provider", "subject", "source") DO UPDATE
      SET "is_allowed" = EXCLUDED."is_allowed",
        "at" = GREATEST("identity_signal"."at", EXCLUDED."at"), "person_id" = EXCLUDED."person_id"
      WHERE $5::timestamptz IS NULL OR EXCLUDED."at" > "identity_signal"."at"
        OR (EXCLUDED."at" = "identity_signal"."at" AND NOT EXCLUDED."is_allowed")
    RETURNING "is_allowed")
  SELECT (SELECT "is_allowed" FROM "former") AS "former" FROM "stored"`;

const END_SESSIONS = `
  DELETE FROM "session" USING "account"
  WHERE "account"."id" = $1 AND "session"."account_id" = $1
    AND ($5::timestamptz IS NULL OR ${AUTHENTICATED_AT} < $5)
    AND ($4 OR ("key_mode" = 'keyless' AND (${AUTHENTICATED_BY} = $2 OR NOT EXISTS (
      SELECT FROM "identity" WHERE "account_id" = $1
        AND ("provider", "subject") <> ($2, $3::text)))))
  RETURNING "session"."id" AS "sessionId"`;

/** Grants from before a sign-out that a later login answered. A trigger ends those of any other refusal. */
const OF_OUTDATED = `"account_id" = $1 AND "authenticated_by" = $2 AND "authenticated_at" < $3`;

/** More identities than this have one e-mail address only by a mistake of their provider. */
const MOST_OF_A_NAME = 100;

/** Facts that a directory or a stream reported about people, by the subject at their provider. */
@Injectable()
export class IdentitySignalRepository {
  constructor(private readonly database: DatabaseService) {}

  async find(
    { provider, subject }: SignalSubject,
    runner: SqlRunner = this.database,
  ): Promise<IdentitySignals> {
    const [row] = await runner.query<{ found: IdentitySignals }>(
      `SELECT json_build_object(${SIGNALS_OF_IDENTITY}) AS "found"
       FROM (SELECT $1::text AS "provider", $2::text AS "subject") AS "identity"`,
      [provider, subject],
    );
    return row?.found ?? { signals: [], hasDirectory: false };
  }

  /** @returns the change of the source's word; `none` also for an older event and a first yes */
  async store(tx: Transaction, signal: NewSignal): Promise<'refused' | 'admitted' | 'none'> {
    const { provider, subject, source, isAllowed, at, personId = null } = signal;
    const parameters = [provider, subject, source, isAllowed, at, personId];
    await lockIdentity(tx, signal);
    const [stored] = await tx.query<{ former: boolean | null }>(STORE, parameters);
    if (stored === undefined || stored.former === isAllowed) {
      return 'none';
    }
    if (!isAllowed) {
      return 'refused';
    }
    return stored.former === false ? 'admitted' : 'none';
  }

  /** Returns the subjects of the identities that a signal names, in order: several for an address. */
  async subjectsOf(tx: Transaction, provider: string, name: SubjectName): Promise<string[]> {
    const isSubject = 'subject' in name;
    const rows = await tx.query<SignalSubject>(
      `SELECT "subject" FROM "identity" WHERE "provider" = $1 AND ${
        isSubject
          ? '"subject" = $2'
          : `"facts" ->> 'emailVerified' = 'true'
             AND lower(("facts" ->> 'email') COLLATE "C") = lower($2::text COLLATE "C")`
      } ORDER BY "subject" LIMIT ${MOST_OF_A_NAME}`,
      [provider, isSubject ? name.subject : name.email],
    );
    return rows.map(({ subject }) => subject);
  }

  /**
   * Ends the sessions that the identity admits, and admits none before its next login. If that login was
   * before the sign-out arrived, only older sessions end.
   * @param at of the sign-out; null = now
   * @returns null when no account has the identity, or no session was that old
   */
  async signOut(
    tx: Transaction,
    of: SignalSubject,
    by: Pick<SignalChange, 'isRequired' | 'reason' | 'now' | 'origin'>,
    at: Date | null = null,
  ): Promise<SignalEffect | null> {
    const loggedInAt = await this.loginOf(tx, of);
    const isOutdated = at !== null && loggedInAt !== null && loggedInAt > at;
    await this.store(tx, { ...of, source: 'sign-out', isAllowed: false, at });
    const event = { kind: 'all-tokens-revoked', reason: by.reason } as const;
    const endsBefore = isOutdated ? at : null;
    return this.apply(tx, of, { ...by, isAllowed: false, event, endsBefore });
  }

  /** Returns the time of the last login at the provider that answered sign-outs; null = not known. */
  private async loginOf(tx: Transaction, of: SignalSubject): Promise<Date | null> {
    const [login] = await tx.query<{ at: Date }>(
      `SELECT "at" FROM "identity_signal"
       WHERE "provider" = $1 AND "subject" = $2 AND "source" = 'sign-out' AND "is_allowed"`,
      [of.provider, of.subject],
    );
    return login?.at ?? null;
  }

  /** Remembers a login at the provider: it answers every sign-out from before it. */
  async noteLogin(tx: Transaction, of: SignalSubject, at: Date): Promise<void> {
    await this.store(tx, { ...of, source: 'sign-out', isAllowed: true, at });
  }

  /**
   * Makes the identity of a login due, in its transaction, if a signal asked for a check since the proof.
   * @param names of the person
   */
  async keepDue(
    tx: Transaction,
    { provider, subject }: SignalSubject,
    names: readonly SubjectName[],
    provenAt: Date,
  ): Promise<void> {
    if (await isSignedOut(tx, provider, waitingFor('recheck', names), provenAt)) {
      await makeIdentitiesDue(tx, { provider, subject });
    }
  }

  /**
   * Removes the yes about a subject that a person of the directory gave, not another person's. Sessions at
   * backends are judged again: a required directory no longer shows the person.
   * @returns the account of the identity; null = none lost a yes
   */
  async withdraw(tx: Transaction, of: SignalSubject, personId: string): Promise<string | null> {
    const accountId = await lockIdentity(tx, of);
    const removed = await tx.query(
      `DELETE FROM "identity_signal" WHERE "provider" = $1 AND "subject" = $2
         AND "source" = 'directory' AND "is_allowed" AND COALESCE("person_id", $3) = $3 RETURNING 1`,
      [of.provider, of.subject, personId],
    );
    if (removed.length === 0 || accountId === null) {
      return null;
    }
    await holdAccounts(tx, [accountId]);
    for (const table of ['resource_session', 'program_grant']) {
      await tx.query(`UPDATE "${table}" SET "judge_at" = now() WHERE "account_id" = $1`, [
        accountId,
      ]);
    }
    return accountId;
  }

  /**
   * Locks the account of the identity, ends the sessions that it admits if `isAllowed` is false,
   * and stores the audit event.
   * @param isRequired true if every session of an account needs the provider
   * @returns null when no account has the identity
   */
  async apply(
    tx: Transaction,
    of: SignalSubject,
    { isAllowed, isRequired, event, reason, now, origin, endsBefore = null }: SignalChange,
  ): Promise<SignalEffect | null> {
    const { provider, subject } = of;
    const accountId = await lockIdentity(tx, of);
    if (accountId === null) {
      return null;
    }
    await holdAccounts(tx, [accountId]);
    const about = { actor: 'provider', provider, reason, ...origin } as const;
    const outdated = { where: OF_OUTDATED, parameters: [accountId, provider, endsBefore] };
    const programs = endsBefore === null ? [] : await deleteGrants(tx, outdated, about);
    const end = [accountId, provider, subject, isRequired, endsBefore];
    const sessions = isAllowed ? [] : await tx.query<{ sessionId: string }>(END_SESSIONS, end);
    if (endsBefore !== null && sessions.length + programs.length === 0) {
      return null;
    }
    const sessionIds = sessions.map(({ sessionId }) => sessionId);
    const events: AuditEvent[] = [
      { ...event, actor: 'provider', accountId, provider, subject, ...origin },
      ...sessionIds.map(
        (sessionId) => ({ ...about, accountId, kind: 'token-revoked', sessionId }) as const,
      ),
      ...programs,
    ];
    await insertAuditEvents(tx, events, now);
    const seq = await nextUpdateSeq(tx, accountId);
    const removed = await removeTokens(tx, { accountId, sessionIds }, about, now);
    return {
      accountId,
      seq,
      pushTokensSeq: removed.seq,
      events: [...events, ...removed.events],
      isOutdated: endsBefore !== null,
    };
  }
}

interface SignalChange {
  readonly isAllowed: boolean;
  readonly isRequired: boolean;
  readonly event: Pick<AuditEvent, 'kind' | 'reason'>;
  /** The reason of the events about what ends with it. */
  readonly reason: string;
  readonly now: Date;
  /** Absent for a directory. */
  readonly origin?: SignalOrigin;
  /** Ends only sessions that began before; null = all. */
  readonly endsBefore?: Date | null;
}

/** Reads what the sources report about the identities of accounts, by the id of the identity. */
export async function signalsOfAccounts(
  runner: SqlRunner,
  accountIds: readonly string[],
): Promise<Map<string, IdentitySignals>> {
  const rows = await runner.query<{ id: string; found: IdentitySignals }>(
    `SELECT "id", json_build_object(${SIGNALS_OF_IDENTITY}) AS "found" FROM "identity"
     WHERE "account_id" = ANY($1::uuid[])`,
    [accountIds],
  );
  return new Map(rows.map(({ id, found }) => [id, found]));
}

/**
 * Removes the refusals of all sources, as an administrator decides.
 * @returns true if there were any
 */
export async function clearRefusals(tx: Transaction, accountId: string): Promise<boolean> {
  await lockIdentitiesOf(tx, accountId);
  const cleared = await tx.query(
    `DELETE FROM "identity_signal" USING "identity"
     WHERE "identity"."account_id" = $1 AND NOT "is_allowed"
       AND "identity_signal"."provider" = "identity"."provider"
       AND "identity_signal"."subject" = "identity"."subject"
     RETURNING 1`,
    [accountId],
  );
  return cleared.length > 0;
}
