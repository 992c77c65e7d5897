import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { lowerAscii } from '../../../../common/lower-ascii.js';
import {
  isAmbiguous,
  subjectsToRefuse,
  subjectToAdmit,
  type NamedSubject,
} from '../../../../core/policy/eligibility/recycled-names.js';
import type { SqlRunner, Transaction } from '../../database.service.js';
import { DirectoryPersonEntity } from '../../entities/directory-person.entity.js';
import { IdentitySignalEntity } from '../../entities/identity-signal.entity.js';
import {
  bears,
  isOfOtherId,
  keepNames,
  lockLinks,
  lockNames,
  NAME_OF_IDENTITY,
  namesOf,
  PROVES_NAME,
  type DirectoryWord,
  type MatchedLogin,
  type NameMatch,
  type PersonChange,
  type PersonMatch,
} from './directory-names.js';
import type { DirectoryPerson } from './directory-person.repository.js';

/** More identities than this have one name only by a mistake of their provider. */
const MOST_OF_A_NAME = 100;

/** The subjects `$3` that the person was matched with, and those whose last logins proved a name `$2`. */
const CANDIDATES = (match: NameMatch): string => `
  SELECT "subject" FROM unnest($3::text[]) AS "subject"
  UNION (SELECT "subject" FROM "identity"
    WHERE "provider" = $1 AND ${NAME_OF_IDENTITY[match]} = ANY($2::text[]) AND ${PROVES_NAME[match]}
    ORDER BY "subject" LIMIT ${MOST_OF_A_NAME})
  ORDER BY "subject"`;

/** Facts about the subjects `$3`, of which `$4` were matched with the person `$2` before, `$5` as the first. */
const FACTS = (match: NameMatch): string => `
  SELECT "found"."subject", "found"."subject" = ANY($4::text[]) AS "isLinked",
    CASE WHEN "signal"."subject" IS NULL THEN NULL
      WHEN COALESCE("signal"."person_id" = $2, "found"."subject" = $5, false) THEN 'person'
      ELSE 'another' END AS "refusedBy",
    "other"."isShared", COALESCE("other"."isOfOther", false) AS "isOfOther"
  FROM unnest($3::text[]) AS "found" ("subject")
  LEFT JOIN "identity_signal" AS "signal" ON "signal"."provider" = $1
    AND "signal"."subject" = "found"."subject" AND "source" = 'directory' AND NOT "is_allowed"
  CROSS JOIN LATERAL (
    SELECT count(*) > 0 AS "isShared", bool_or("found"."subject" = "other"."subject"
      OR "found"."subject" = ANY("other"."subjects")) AS "isOfOther"
    FROM "identity" JOIN "directory_person" AS "other" ON "other"."provider" = $1
      AND "other"."id" <> $2 AND "other"."deleted_at" IS NULL AND "other"."is_active"
      AND ${bears(match, 'other', NAME_OF_IDENTITY[match])}
    WHERE "identity"."provider" = $1 AND "identity"."subject" = "found"."subject"
      AND ${PROVES_NAME[match]}) AS "other"
  ORDER BY "found"."subject"`;

/** People who have the name `$2`, or had it while they were refused. */
const OF_NAME = (match: NameMatch): string => `
  SELECT "id", "is_active" AS "isActive", "deleted_at" IS NOT NULL AS "isDeleted",
    "refusal_ended_at" IS NOT NULL AS "isEnded",
    ("subject" = $3 OR $3 = ANY("subjects")) IS TRUE AS "isLinked"
  FROM "directory_person" AS "person"
  WHERE "provider" = $1 AND (${bears(match, 'person', '$2')}
    OR ("former_names" <> '{}' AND "former_names" @> ARRAY[$2]))
  ORDER BY "id" FOR UPDATE SKIP LOCKED`;

interface PersonOfName {
  readonly id: string;
  readonly isActive: boolean;
  readonly isDeleted: boolean;
  readonly isEnded: boolean;
  readonly isLinked: boolean;
}

/**
 * Matches people of a directory to identities by names, which get other owners in time. The locks are
 * those of `DirectoryLinkRepository`.
 */
@Injectable()
export class DirectoryNameRepository {
  /** Finds the subjects for which the names stand, and stores the match. */
  async match(tx: Transaction, match: NameMatch, change: PersonChange): Promise<PersonMatch> {
    const { before, after } = change;
    const person = (after ?? before) as DirectoryPerson;
    const isRefused = after?.isActive !== true;
    const names = namesOf(match, person);
    const former = before === null ? [] : namesOf(match, before);
    await lockNames(tx, person.provider, [...names, ...former, ...person.formerNames]);
    await keepNames(tx, person, isRefused ? former.filter((name) => !names.includes(name)) : []);
    const links = isOfOtherId(change) ? await disown(tx, person) : linksOf(person);
    const meant = isRefused ? [...names, ...former, ...person.formerNames] : names;
    const found = await this.find(tx, match, person, meant, links);
    const ambiguous = isAmbiguous(found);
    const refused = subjectsToRefuse(found, isRefused && before?.isActive === false);
    for (const subject of refused) {
      await link(tx, person.id, subject);
    }
    await setAmbiguous(tx, person.id, ambiguous);
    const { isProven: isKnown } = person;
    return { refused, admitted: subjectToAdmit(found), isAmbiguous: ambiguous, isKnown };
  }

  private async find(
    tx: Transaction,
    match: NameMatch,
    { id, provider, subject: first }: DirectoryPerson,
    names: readonly string[],
    links: readonly string[],
  ): Promise<NamedSubject[]> {
    type Row = Pick<NamedSubject, 'subject'>;
    const rows = await tx.query<Row>(CANDIDATES(match), [provider, names, links]);
    const subjects = rows.map(({ subject }) => subject);
    await lockLinks(tx, provider, subjects);
    const known = first !== null && links.includes(first) ? first : null;
    return tx.query<NamedSubject>(FACTS(match), [provider, id, subjects, links, known]);
  }

  /**
   * Judges a login by the people who have its name, and links the person that it matches. A refusal
   * waits for the next login with the name, unless the directory then shows an active person of it.
   * @returns null also for a subject that a directory refuses already: no name admits it again
   */
  async meet(
    tx: Transaction,
    match: NameMatch,
    { provider, subject, facts }: MatchedLogin,
  ): Promise<DirectoryWord | null> {
    const email = facts.emailVerified ? facts.email : null;
    const proven = match === 'userName' ? facts.login : email;
    if (proven === null || proven.includes('\0')) {
      return null;
    }
    const name = lowerAscii(proven);
    await lockNames(tx, provider, [name]);
    await lockLinks(tx, provider, [subject]);
    const refusal = { provider, subject, source: 'directory', isAllowed: false } as const;
    if (await tx.manager.existsBy(IdentitySignalEntity, refusal)) {
      return null;
    }
    // A request that has locked a row waits for the names, and matches the person after this transaction.
    const people = await tx.query<PersonOfName>(OF_NAME(match), [provider, name, subject]);
    const active = await countActive(tx, match, provider, name);
    if (active === 0) {
      return this.refuse(tx, subject, people);
    }
    const [person] = people.filter(({ isActive, isDeleted }) => isActive && !isDeleted);
    if (person === undefined) {
      return null;
    }
    const hasNamesake = active > 1 || (await hasOtherOwner(tx, match, provider, name, subject));
    if (active === 1) {
      await link(tx, person.id, subject, true);
    }
    await setAmbiguous(tx, person.id, hasNamesake);
    return hasNamesake ? null : { isAllowed: true, personId: person.id };
  }

  /** A person who is linked to the subject refused it before, and may have been overruled since. */
  private async refuse(
    tx: Transaction,
    subject: string,
    people: readonly PersonOfName[],
  ): Promise<DirectoryWord | null> {
    const refusing = people.filter(({ isLinked, isEnded }) => !isLinked && !isEnded);
    const deleted = refusing.filter(({ isDeleted }) => isDeleted).map(({ id }) => id);
    await tx.manager.delete(DirectoryPersonEntity, { id: In(deleted) });
    const live = refusing.filter(({ isDeleted }) => !isDeleted);
    for (const { id } of live) {
      await link(tx, id, subject, true);
    }
    const [person] = [...live, ...refusing];
    return person === undefined ? null : { isAllowed: false, personId: person.id };
  }
}

function linksOf({ subject, subjects }: DirectoryPerson): string[] {
  return [...new Set([...(subject === null ? [] : [subject]), ...subjects])];
}

/**
 * A directory may give the entry of a leaver to a namesake. Its word then ends no refusal that was
 * stored for the leaver.
 * @returns the subjects that stay linked
 */
async function disown(tx: Transaction, person: DirectoryPerson): Promise<string[]> {
  const { id, provider } = person;
  const links = linksOf(person);
  const refused = await tx.query<Pick<NamedSubject, 'subject'>>(
    `UPDATE "identity_signal" SET "person_id" = NULL
     WHERE "provider" = $1 AND "subject" = ANY($2::text[]) AND "source" = 'directory'
       AND NOT "is_allowed" RETURNING "subject"`,
    [provider, links],
  );
  const left = links.filter((link) => refused.every(({ subject }) => subject !== link));
  await tx.query(
    `UPDATE "directory_person" SET "subjects" = $2,
       "subject" = CASE WHEN "subject" = ANY($2::text[]) THEN "subject" END WHERE "id" = $1`,
    [id, left],
  );
  return left;
}

/** Two people may be matched with one subject, but only one of them first. */
async function link(tx: Transaction, id: string, subject: string, isProven = false): Promise<void> {
  await tx.query(
    `UPDATE "directory_person" AS "person" SET "is_proven" = "is_proven" OR $3,
       "subject" = COALESCE("subject", CASE WHEN NOT EXISTS (
         SELECT FROM "directory_person" AS "other" WHERE "other"."subject" = $2::text
           AND "other"."provider" = "person"."provider") THEN $2::text END),
       "subjects" = CASE WHEN $2 = ANY("subjects") THEN "subjects" ELSE array_append("subjects", $2) END
     WHERE "id" = $1 AND NOT ($2 = ANY("subjects") AND ("is_proven" OR NOT $3))`,
    [id, subject, isProven],
  );
}

async function setAmbiguous(tx: Transaction, id: string, isAmbiguous: boolean): Promise<void> {
  const differs = { id, isAmbiguous: !isAmbiguous };
  await tx.manager.update(DirectoryPersonEntity, differs, { isAmbiguous });
}

/** Without a lock: a request that changes a person meanwhile waits for the names. */
async function countActive(
  tx: Transaction,
  match: NameMatch,
  provider: string,
  name: string,
): Promise<number> {
  const [counted] = await tx.query<{ count: number }>(
    `SELECT count(*)::int FROM "directory_person" AS "person"
     WHERE "provider" = $1 AND "deleted_at" IS NULL AND "is_active" AND ${bears(match, 'person', '$2')}`,
    [provider, name],
  );
  return counted?.count ?? 0;
}

/** Returns true if the name stands for another subject too, which no directory refuses. */
async function hasOtherOwner(
  tx: Transaction,
  match: NameMatch,
  provider: string,
  name: string,
  subject: string,
): Promise<boolean> {
  const others = await tx.query(
    `SELECT 1 FROM "identity" WHERE "provider" = $1 AND ${NAME_OF_IDENTITY[match]} = $2
       AND ${PROVES_NAME[match]} AND "subject" <> $3
       AND NOT EXISTS (SELECT FROM "identity_signal" AS "signal"
         WHERE "signal"."provider" = $1 AND "signal"."subject" = "identity"."subject"
           AND "source" = 'directory' AND NOT "is_allowed") LIMIT 1`,
    [provider, name, subject],
  );
  return others.length > 0;
}

/**
 * Returns accounts whose identities a directory refuses while it shows an active person of their name:
 * a namesake, or the same person hired again.
 */
export async function readNamesakes(
  sql: SqlRunner,
  provider: string,
  match: NameMatch,
  limit: number,
): Promise<{ readonly total: number; readonly accountIds: readonly string[] }> {
  const rows = await sql.query<{ accountId: string; total: number }>(
    `SELECT "account_id" AS "accountId", (count(*) OVER ())::int AS "total"
     FROM "identity_signal" AS "signal" JOIN "identity" ON "identity"."provider" = $1
       AND "identity"."subject" = "signal"."subject" AND ${PROVES_NAME[match]}
     WHERE "signal"."provider" = $1 AND "source" = 'directory' AND NOT "is_allowed"
       AND EXISTS (SELECT FROM "directory_person" AS "person" WHERE "person"."provider" = $1
         AND "deleted_at" IS NULL AND "is_active" AND ${bears(match, 'person', NAME_OF_IDENTITY[match])})
     ORDER BY "signal"."at" DESC LIMIT ${Math.trunc(limit)}`,
    [provider],
  );
  return { total: rows[0]?.total ?? 0, accountIds: rows.map(({ accountId }) => accountId) };
}
