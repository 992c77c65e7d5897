import { Injectable } from '@nestjs/common';
import type { EligibilityFacts } from '../../../policy/eligibility/eligibility.js';
import type { DirectoryRules } from '../../../policy/eligibility/provider-rules.js';
import type { Transaction } from '../../database.service.js';
import type { DirectoryPerson } from './directory-person.repository.js';

type Match = DirectoryRules['match'];

/** `subject`: the signals of the person are stored for it; null = no identity matches yet. */
export interface PersonMatch {
  readonly subject: string | null;
  readonly isLinked: boolean;
  readonly isAmbiguous: boolean;
}

export interface MatchedLogin {
  readonly provider: string;
  readonly subject: string;
  readonly facts: Pick<EligibilityFacts, 'login' | 'email' | 'emailVerified' | 'oid'>;
}

/** SQL of the identities that match the person `$2` of the provider `$1`. */
const IDENTITIES_OF: Readonly<Record<Match, string>> = {
  externalId: `"identity"."subject" = "person"."external_id"`,
  oid: `"facts" ->> 'oid' = "person"."external_id"`,
  userName: `lower("login") COLLATE "C" = lower("person"."user_name") COLLATE "C"`,
  email: `"facts" ->> 'emailVerified' = 'true'
    AND lower("facts" ->> 'email') COLLATE "C" = ANY("person"."email_values")`,
};

/** SQL of another person of the provider who matches the same identities. */
const SAME_PERSON: Readonly<Record<Match, string>> = {
  externalId: `"other"."external_id" = "person"."external_id"`,
  oid: `"other"."external_id" = "person"."external_id"`,
  userName: 'false',
  email: `"other"."email_values" && "person"."email_values"`,
};

const FIND = (match: Match): string => `
  SELECT ARRAY(SELECT "identity"."subject" FROM "identity"
      WHERE "identity"."provider" = $1 AND ${IDENTITIES_OF[match]} LIMIT 2) AS "subjects",
    EXISTS (SELECT FROM "directory_person" AS "other"
      WHERE "other"."provider" = $1 AND "other"."id" <> $2 AND "other"."deleted_at" IS NULL
        AND ${SAME_PERSON[match]}) AS "hasTwin"
  FROM "directory_person" AS "person" WHERE "person"."id" = $2`;

/** Finds the people that a login matches, from the fact `$2`. */
const BY_FACT: Readonly<Record<Match, string>> = {
  externalId: `"external_id" = $2`,
  oid: `"external_id" = $2`,
  userName: `lower("user_name") COLLATE "C" = lower($2::text) COLLATE "C"`,
  email: `"email_values" @> ARRAY[lower($2::text)]`,
};

/** The names by which an identity can match the person: two people match the same one by these. */
const NAMES_OF: Readonly<Record<Match, (person: DirectoryPerson) => readonly string[]>> = {
  externalId: ({ externalId }) => (externalId === null ? [] : [externalId]),
  oid: ({ externalId }) => (externalId === null ? [] : [externalId]),
  userName: ({ userName }) => [userName],
  email: ({ emails }) => emails.map(({ value }) => value),
};

/** The keys in ascending order, so that two transactions do not wait for each other. */
const LOCK = `
  SELECT pg_advisory_xact_lock("key") FROM (
    SELECT DISTINCT hashtextextended($1 || lower("name") COLLATE "C", 0) AS "key"
    FROM unnest($2::text[]) AS "name" ORDER BY "key" OFFSET 0) AS "keys"`;

/**
 * Links people of a directory to identities, for good: a changed name does not hide a later
 * deactivation. First matches by the same name happen one after the other, and so do links to the same
 * subject. A directory locks the row of `directory_person`, then the names, then the link. A login has
 * the names first, and so waits for no row.
 */
@Injectable()
export class DirectoryLinkRepository {
  /** Finds the identity of the person, and stores a first match. */
  async match(tx: Transaction, match: Match, person: DirectoryPerson): Promise<PersonMatch> {
    if (person.subject !== null) {
      return { subject: person.subject, isLinked: true, isAmbiguous: false };
    }
    await lockNames(tx, person.provider, NAMES_OF[match](person));
    const found = await this.find(tx, match, person);
    if (found.isLinked || found.isAmbiguous !== person.isAmbiguous) {
      const subject = found.isLinked ? found.subject : null;
      await setLink(tx, person.id, subject, found.isAmbiguous);
    }
    return found;
  }

  private async find(tx: Transaction, match: Match, person: DirectoryPerson): Promise<PersonMatch> {
    type Row = { readonly subjects: readonly string[]; readonly hasTwin: boolean };
    const [row] = await tx.query<Row>(FIND(match), [person.provider, person.id]);
    const { subjects = [], hasTwin = false } = row ?? {};
    const [subject = null] = subjects;
    const isTaken = subject !== null && (await lockLink(tx, person.provider, subject));
    if (hasTwin || subjects.length > 1 || isTaken) {
      return { subject: null, isLinked: false, isAmbiguous: true };
    }
    // The subject is known before its first login.
    const key = match === 'externalId' ? person.externalId : null;
    return { subject: subject ?? key, isLinked: subject !== null, isAmbiguous: false };
  }

  /**
   * Links the person that a login matches. A person who is created until the commit finds the identity
   * that the transaction stores.
   * @returns the directory's word about the person, if any; null also for an ended refusal
   */
  async meet(tx: Transaction, match: Match, login: MatchedLogin): Promise<boolean | null> {
    const { provider, subject } = login;
    const fact = factOf(match, login);
    if (fact === null || fact.includes('\0')) {
      return null;
    }
    await lockNames(tx, provider, [fact]);
    type Row = { readonly id: string; readonly word: boolean | null; readonly isDeleted: boolean };
    // A request that has locked a row waits for the names, and matches the person after this transaction.
    const people = await tx.query<Row>(
      `SELECT "id", "deleted_at" IS NOT NULL AS "isDeleted",
         CASE WHEN "refusal_ended_at" IS NULL THEN "is_active" END AS "word"
       FROM "directory_person" WHERE "provider" = $1 AND ${BY_FACT[match]} AND "subject" IS NULL
       ORDER BY "id" FOR UPDATE SKIP LOCKED`,
      [provider, fact],
    );
    if (people.length === 0 || (await lockLink(tx, provider, subject))) {
      return null;
    }
    const deleted = people.filter(({ isDeleted }) => isDeleted).map(({ id }) => id);
    await tx.query(`DELETE FROM "directory_person" WHERE "id" = ANY($1::uuid[])`, [deleted]);
    const [person, ...twins] = people.filter(({ isDeleted }) => !isDeleted);
    if (person === undefined) {
      return false;
    }
    const isAmbiguous = twins.length > 0 || (await hasOtherIdentity(tx, match, person.id, login));
    await setLink(tx, person.id, isAmbiguous ? null : subject, isAmbiguous);
    return isAmbiguous ? null : person.word;
  }
}

function factOf(match: Match, { subject, facts }: MatchedLogin): string | null {
  const found = {
    externalId: subject,
    oid: facts.oid ?? null,
    userName: facts.login,
    email: facts.emailVerified ? facts.email : null,
  };
  return found[match];
}

async function lockNames(
  tx: Transaction,
  provider: string,
  names: readonly string[],
): Promise<void> {
  await (names.length > 0 && tx.query(LOCK, [`gatehouse directory ${provider} `, names]));
}

/** Locks the links to the subject: people with different names may match it meanwhile. */
async function lockLink(tx: Transaction, provider: string, subject: string): Promise<boolean> {
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    `gatehouse directory link ${provider} ${subject}`,
  ]);
  const linked = await tx.query(
    `SELECT 1 FROM "directory_person" WHERE "provider" = $1 AND "subject" = $2`,
    [provider, subject],
  );
  return linked.length > 0;
}

async function hasOtherIdentity(
  tx: Transaction,
  match: Match,
  personId: string,
  { provider, subject }: MatchedLogin,
): Promise<boolean> {
  const others = await tx.query(
    `SELECT 1 FROM "directory_person" AS "person" JOIN "identity"
       ON "identity"."provider" = $1 AND ${IDENTITIES_OF[match]} AND "identity"."subject" <> $3
     WHERE "person"."id" = $2 LIMIT 1`,
    [provider, personId, subject],
  );
  return others.length > 0;
}

async function setLink(
  tx: Transaction,
  id: string,
  subject: string | null,
  isAmbiguous: boolean,
): Promise<void> {
  await tx.query(
    `UPDATE "directory_person" SET "subject" = $2, "is_ambiguous" = $3 WHERE "id" = $1`,
    [id, subject, isAmbiguous],
  );
}
