import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import type { Transaction } from '../../database.service.js';
import { DirectoryPersonEntity } from '../../entities/directory-person.entity.js';
import { DirectoryNameRepository } from './directory-name.repository.js';
import {
  isNameMatch,
  isOfOtherId,
  keepNames,
  lockLinks,
  lockNames,
  type DirectoryWord,
  type Match,
  type MatchedLogin,
  type NameMatch,
  type PersonChange,
  type PersonMatch,
} from './directory-names.js';
import type { DirectoryPerson } from './directory-person.repository.js';

type IdMatch = Exclude<Match, NameMatch>;

/** SQL of the identities that match the person `$2` of the provider `$1`. */
const IDENTITIES_OF: Readonly<Record<IdMatch, string>> = {
  externalId: `"identity"."subject" = "person"."external_id"`,
  oid: `"facts" ->> 'oid' = "person"."external_id"`,
};

const FIND = (match: IdMatch): string => `
  SELECT ARRAY(SELECT "identity"."subject" FROM "identity"
      WHERE "identity"."provider" = $1 AND ${IDENTITIES_OF[match]} LIMIT 2) AS "subjects",
    EXISTS (SELECT FROM "directory_person" AS "other"
      WHERE "other"."provider" = $1 AND "other"."id" <> $2 AND "other"."deleted_at" IS NULL
        AND "other"."external_id" = "person"."external_id") AS "hasTwin"
  FROM "directory_person" AS "person" WHERE "person"."id" = $2`;

interface Found {
  readonly subject: string | null;
  readonly isLinked: boolean;
  readonly isAmbiguous: boolean;
}

/**
 * Links people of a directory to identities by an id, for good: a changed name does not hide a later
 * deactivation. First matches by the same id happen one after the other, and so do links to the same
 * subject. A directory locks the row of `directory_person`, then the names, then the link. A login has
 * the names first, and so waits for no row.
 */
@Injectable()
export class DirectoryLinkRepository {
  constructor(private readonly names: DirectoryNameRepository) {}

  /** Finds the subjects that a request about the person concerns, and stores a first match. */
  match(tx: Transaction, match: Match, change: PersonChange): Promise<PersonMatch> {
    return isNameMatch(match)
      ? this.names.match(tx, match, change)
      : this.matchById(tx, match, change);
  }

  /**
   * Links the person that a login matches. A person who is created until the commit finds the identity
   * that the transaction stores.
   * @returns the directory's word about the person, if any; null also for an ended refusal
   */
  meet(tx: Transaction, match: Match, login: MatchedLogin): Promise<DirectoryWord | null> {
    return isNameMatch(match) ? this.names.meet(tx, match, login) : this.meetById(tx, match, login);
  }

  private async matchById(
    tx: Transaction,
    match: IdMatch,
    change: PersonChange,
  ): Promise<PersonMatch> {
    const person = (change.after ?? change.before) as DirectoryPerson;
    const former = isOfOtherId(change) ? person.subject : null;
    if (former !== null) {
      await unlink(tx, person.id);
    }
    const ended = idWithEnd(change);
    await keepNames(tx, person, match === 'oid' ? ended : []);
    const further = [
      ...person.subjects,
      ...(former === null ? [] : [former]),
      ...(match === 'externalId' ? await withoutShown(tx, person, ended) : []),
    ];
    const { subject, isAmbiguous } =
      former === null && person.subject !== null
        ? { subject: person.subject, isAmbiguous: false }
        : await this.link(tx, match, person);
    return {
      refused: [...new Set([...(subject === null ? [] : [subject]), ...further])],
      admitted: subject,
      isAmbiguous,
      isKnown: subject !== null || isAmbiguous,
    };
  }

  private async link(tx: Transaction, match: IdMatch, person: DirectoryPerson): Promise<Found> {
    await lockNames(tx, person.provider, person.externalId === null ? [] : [person.externalId]);
    const found = await this.find(tx, match, person);
    if (found.isLinked || found.isAmbiguous !== person.isAmbiguous) {
      const subject = found.isLinked ? found.subject : null;
      const { isAmbiguous } = found;
      await tx.manager.update(DirectoryPersonEntity, { id: person.id }, { subject, isAmbiguous });
    }
    return found;
  }

  private async find(tx: Transaction, match: IdMatch, person: DirectoryPerson): Promise<Found> {
    type Row = { readonly subjects: readonly string[]; readonly hasTwin: boolean };
    const [row] = await tx.query<Row>(FIND(match), [person.provider, person.id]);
    const { subjects = [], hasTwin = false } = row ?? {};
    const [subject = null] = subjects;
    const isTaken = subject !== null && (await isLinked(tx, person.provider, subject));
    if (hasTwin || subjects.length > 1 || isTaken) {
      return { subject: null, isLinked: false, isAmbiguous: true };
    }
    // The subject is known before its first login.
    const key = match === 'externalId' ? person.externalId : null;
    return { subject: subject ?? key, isLinked: subject !== null, isAmbiguous: false };
  }

  private async meetById(
    tx: Transaction,
    match: IdMatch,
    { provider, subject, facts }: MatchedLogin,
  ): Promise<DirectoryWord | null> {
    const id = match === 'externalId' ? subject : (facts.oid ?? null);
    if (id === null || id.includes('\0')) {
      return null;
    }
    await lockNames(tx, provider, [id]);
    type Row = { readonly id: string; readonly word: boolean | null; readonly isDeleted: boolean };
    // A request that has locked a row waits for the names, and matches the person after this transaction.
    const people = await tx.query<Row>(
      `SELECT "id", "deleted_at" IS NOT NULL AS "isDeleted",
         CASE WHEN "refusal_ended_at" IS NULL THEN "is_active" END AS "word"
       FROM "directory_person" WHERE "provider" = $1 AND "subject" IS NULL AND ("external_id" = $2
         OR ("former_names" <> '{}' AND "former_names" @> ARRAY[$2::text]))
       ORDER BY "id" FOR UPDATE SKIP LOCKED`,
      [provider, id],
    );
    const [first] = people;
    if (first === undefined || (await isLinked(tx, provider, subject))) {
      return null;
    }
    const deleted = people.filter(({ isDeleted }) => isDeleted).map((one) => one.id);
    await tx.manager.delete(DirectoryPersonEntity, { id: In(deleted) });
    const [person, ...twins] = people.filter(({ isDeleted }) => !isDeleted);
    if (person === undefined) {
      return { isAllowed: false, personId: first.id };
    }
    const isAmbiguous =
      twins.length > 0 || (await hasOtherIdentity(tx, match, person.id, provider, subject));
    const linked = { subject: isAmbiguous ? null : subject, isAmbiguous };
    await tx.manager.update(DirectoryPersonEntity, { id: person.id }, linked);
    const { word } = person;
    return isAmbiguous || word === null ? null : { isAllowed: word, personId: person.id };
  }
}

/** The id that the request which ends the person's access takes away: the end is about its owner. */
function idWithEnd({ before, after }: PersonChange): string[] {
  const id = before?.externalId ?? null;
  const isLost = after !== null && !after.isActive && after.externalId !== id;
  return id !== null && isLost ? [id] : [];
}

/** Leaves out ids that the directory shows with another person, who is active: the end is not theirs. */
async function withoutShown(
  tx: Transaction,
  { id, provider }: DirectoryPerson,
  ids: readonly string[],
): Promise<string[]> {
  const shown = await tx.query<{ externalId: string }>(
    `SELECT "external_id" AS "externalId" FROM "directory_person" WHERE "provider" = $1
       AND "id" <> $2 AND "external_id" = ANY($3::text[]) AND "is_active" AND "deleted_at" IS NULL`,
    [provider, id, ids],
  );
  return ids.filter((one) => shown.every(({ externalId }) => externalId !== one));
}

/** Keeps the subject among those whose access the person's end ends. */
async function unlink(tx: Transaction, id: string): Promise<void> {
  await tx.query(
    `UPDATE "directory_person" SET "subjects" = array_append("subjects", "subject"), "subject" = NULL
     WHERE "id" = $1`,
    [id],
  );
}

async function isLinked(tx: Transaction, provider: string, subject: string): Promise<boolean> {
  await lockLinks(tx, provider, [subject]);
  return tx.manager.existsBy(DirectoryPersonEntity, { provider, subject });
}

async function hasOtherIdentity(
  tx: Transaction,
  match: IdMatch,
  personId: string,
  provider: string,
  subject: string,
): Promise<boolean> {
  const others = await tx.query(
    `SELECT 1 FROM "directory_person" AS "person" JOIN "identity"
       ON "identity"."provider" = $1 AND ${IDENTITIES_OF[match]} AND "identity"."subject" <> $3
     WHERE "person"."id" = $2 LIMIT 1`,
    [provider, personId, subject],
  );
  return others.length > 0;
}
