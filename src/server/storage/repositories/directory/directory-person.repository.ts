import { Injectable } from '@nestjs/common';
import { QueryFailedError } from 'typeorm';
import { lowerAscii } from '../../../../common/lower-ascii.js';
import { isUuid } from '../../../../common/uuid.js';
import { Random } from '../../../../common/runtime/random.js';
import type { DirectoryRules } from '../../../../core/policy/eligibility/provider-rules.js';
import { Parameters, readPage } from '../../bounded-page.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../../database.service.js';
import type { InMilliseconds } from '../../milliseconds.js';
import type { DirectoryPersonEntity } from '../../entities/directory-person.entity.js';

export type DirectoryEmail = PersonAttributes['emails'][number];

export type PersonAttributes = Readonly<
  Pick<DirectoryPersonEntity, 'externalId' | 'userName' | 'isActive' | 'emails' | 'displayName'>
>;

/** Times are Unix milliseconds. */
export type DirectoryPerson = InMilliseconds<
  Omit<DirectoryPersonEntity, 'emailValues' | 'deletedAt' | 'refusalEndedAt'>
>;

/** All conditions have to be met. */
export type PersonCondition =
  | { readonly attribute: 'id' | 'externalId' | 'userName'; readonly value: string }
  | { readonly attribute: 'email'; readonly value?: string; readonly type?: string };

export interface PersonPage {
  readonly total: number;
  readonly people: readonly DirectoryPerson[];
}

/** A person of a directory without an identity here. */
type UnmatchedPerson = Pick<
  DirectoryPerson,
  'id' | 'userName' | 'externalId' | 'isActive' | 'isAmbiguous' | 'changedAt'
> & {
  /** True if the first login would be refused, whatever the rules say. */
  readonly isRefused: boolean;
};

export interface UnmatchedPage {
  readonly people: readonly UnmatchedPerson[];
  /** The last id; null = there is no next page. */
  readonly next: string | null;
}

export interface DirectoryCounts {
  readonly people: number;
  readonly active: number;
  readonly linked: number;
  readonly ambiguous: number;
  /** People that the directory deactivated within the last hour. */
  readonly recentlyDeactivated: number;
}

const COLUMNS = `"id", "provider", "external_id" AS "externalId", "user_name" AS "userName",
  "is_active" AS "isActive", "emails", "display_name" AS "displayName", "subject",
  "subjects", "is_proven" AS "isProven", "former_names" AS "formerNames",
  "is_ambiguous" AS "isAmbiguous",
  floor(extract(epoch FROM "created_at") * 1000)::float8 AS "createdAt",
  floor(extract(epoch FROM "changed_at") * 1000)::float8 AS "changedAt"`;

/** Another person of the directory has the user name. The transaction cannot go on. */
export class UserNameTakenError extends Error {
  override readonly name = 'UserNameTakenError';
}

/** The people that directories report. */
@Injectable()
export class DirectoryPersonRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly random: Random,
  ) {}

  /** @returns null when another person of the provider has the user name */
  async insert(
    tx: Transaction,
    provider: string,
    person: PersonAttributes,
    now: Date,
  ): Promise<DirectoryPerson | null> {
    const [inserted] = await tx.query<DirectoryPerson>(
      `INSERT INTO "directory_person" ("id", "provider", "external_id", "user_name", "is_active",
         "emails", "email_values", "display_name", "created_at", "changed_at")
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
       ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
      [this.random.uuid(), provider, ...valuesOf(person), now],
    );
    return inserted ?? null;
  }

  /** Reads a person and locks the row, so that two changes of it happen one after the other. */
  async lock(tx: Transaction, provider: string, id: string): Promise<DirectoryPerson | null> {
    if (!isUuid(id)) {
      return null;
    }
    const [person] = await tx.query<DirectoryPerson>(
      `SELECT ${COLUMNS} FROM "directory_person"
       WHERE "provider" = $1 AND "id" = $2 AND "deleted_at" IS NULL FOR UPDATE`,
      [provider, id],
    );
    return person ?? null;
  }

  /** @throws UserNameTakenError also when another transaction takes the name at the same time */
  async update(
    tx: Transaction,
    { id }: DirectoryPerson,
    person: PersonAttributes,
    now: Date,
  ): Promise<DirectoryPerson> {
    const [updated] = await tx
      .query<DirectoryPerson>(
        `UPDATE "directory_person" SET "external_id" = $2, "user_name" = $3,
           "is_active" = $4, "emails" = $5, "email_values" = $6, "display_name" = $7,
           "changed_at" = $8, "refusal_ended_at" = NULL
         WHERE "id" = $1 RETURNING ${COLUMNS}`,
        [id, ...valuesOf(person), now],
      )
      .catch((error: unknown) => {
        throw isOfNameKey(error) ? new UserNameTakenError() : error;
      });
    return updated as DirectoryPerson;
  }

  /**
   * Remembers that the directory has shown an active person. Another first one waits: call it before
   * other locks are taken than that of the person.
   * @returns true if it is the first one
   */
  async noteActive(
    tx: Transaction,
    { provider, isActive }: DirectoryPerson,
    now: Date,
  ): Promise<boolean> {
    const noted = isActive ? await tx.query(FIRST_ACTIVE, [provider, now]) : [];
    return noted.length > 0;
  }

  /**
   * Has sessions at backends judged again, as a required directory refuses those it does not show from
   * its first active person on. An exchange holds its account while it judges: it is waited for.
   */
  async judgeAllAgain(tx: Transaction, provider: string): Promise<void> {
    await tx.query(HOLD_PEOPLE, [provider]);
    await tx.query(judgeAgain('resource_session'), [provider]);
    await tx.query(judgeAgain('program_grant'), [provider]);
  }

  async remove(tx: Transaction, { id }: DirectoryPerson): Promise<void> {
    await tx.query(`DELETE FROM "directory_person" WHERE "id" = $1`, [id]);
  }

  /** Keeps what a first login is matched by: the person may still sign in at the provider. */
  async keepDeleted(
    tx: Transaction,
    { id }: DirectoryPerson,
    keepsEmails: boolean,
    now: Date,
  ): Promise<void> {
    await tx.query(
      `UPDATE "directory_person" SET "is_active" = false, "emails" = '[]', "display_name" = NULL,
         "email_values" = CASE WHEN $3 THEN "email_values" ELSE '{}' END, "subject" = NULL,
         "subjects" = CASE WHEN "subject" IS NULL THEN "subjects" ELSE "subjects" || "subject" END,
         "deleted_at" = $2, "refusal_ended_at" = NULL WHERE "id" = $1`,
      [id, now, keepsEmails],
    );
  }

  /** @param offset of the first person, in the order of the ids */
  async search(
    provider: string,
    conditions: readonly PersonCondition[],
    offset: number,
    limit: number,
  ): Promise<PersonPage> {
    const parameters = new Parameters();
    const ofProvider = `"provider" = ${parameters.bind(provider)}`;
    const all = conditions.map((condition) => sqlOf(condition, parameters));
    const where = [ofProvider, '"deleted_at" IS NULL', ...all].join(' AND ');
    const [counted] = await this.database.query<{ total: number }>(
      `SELECT count(*)::int AS "total" FROM "directory_person" WHERE ${where}`,
      parameters.values,
    );
    const total = counted?.total ?? 0;
    if (offset >= total || limit === 0) {
      return { total, people: [] };
    }
    const people = await this.database.query<DirectoryPerson>(
      `SELECT ${COLUMNS} FROM "directory_person" WHERE ${where}
       ORDER BY "id" LIMIT ${Math.trunc(limit)} OFFSET ${Math.trunc(offset)}`,
      parameters.values,
    );
    return { total, people };
  }

  /** @param after the last id of the page before */
  async unmatched(
    provider: string,
    match: DirectoryRules['match'],
    after: string | null,
    limit: number,
  ): Promise<UnmatchedPage> {
    const parameters = new Parameters();
    const where = [
      `"provider" = ${parameters.bind(provider)} AND "subject" IS NULL AND "subjects" = '{}'
         AND "deleted_at" IS NULL`,
      ...(after === null ? [] : [`"id" > ${parameters.bind(after)}::uuid`]),
    ];
    const source = (most: string): string => `
      SELECT ${COLUMNS}, ${isRefused(match)} AS "isRefused"
      FROM "directory_person" WHERE ${where.join(' AND ')}
      ORDER BY "id" LIMIT ${most}`;
    const page = { source, conditions: [], parameters, limit };
    const { rows, last } = await readPage<UnmatchedPerson>(this.database, page);
    const people = rows.map(
      ({ id, userName, externalId, isActive, isAmbiguous, changedAt, isRefused }) => ({
        id,
        userName,
        externalId,
        isActive,
        isAmbiguous,
        changedAt,
        isRefused,
      }),
    );
    return { people, next: last?.id ?? null };
  }

  counts(provider: string): Promise<DirectoryCounts> {
    return countDirectory(this.database, provider);
  }
}

/** SQL: a refusal of the directory, or of an event about the subject or an address, is stored. */
function isRefused(match: DirectoryRules['match']): string {
  const ofSubject = `EXISTS (SELECT FROM "identity_signal" AS "signal"
    WHERE "signal"."provider" = "directory_person"."provider"
      AND "signal"."subject" = "external_id" AND NOT "signal"."is_allowed")`;
  const ofAddress = `EXISTS (SELECT FROM unnest("email_values") AS "value"
    JOIN "email_signal" AS "event" ON "event"."provider" = "directory_person"."provider"
      AND "event"."email_hash" = sha256(convert_to("value", 'UTF8')) AND NOT "event"."is_allowed")`;
  const ofDirectory = `NOT "is_active" AND NOT "is_ambiguous" AND "refusal_ended_at" IS NULL`;
  return `(${[ofDirectory, ...(match === 'externalId' ? [ofSubject] : []), ofAddress].join(' OR ')})`;
}

/** Counts the people of a directory, and the identities of its provider. */
export async function countDirectory(
  sql: SqlRunner,
  provider: string,
): Promise<DirectoryCounts & { readonly identities: number }> {
  const [counts] = await sql.query<DirectoryCounts & { readonly identities: number }>(COUNTS, [
    provider,
  ]);
  const none = { people: 0, active: 0, linked: 0, ambiguous: 0, recentlyDeactivated: 0 };
  return counts ?? { ...none, identities: 0 };
}

const COUNTS = `
  SELECT count(*)::int AS "people", count(*) FILTER (WHERE "is_active")::int AS "active",
    count(*) FILTER (WHERE "subject" IS NOT NULL OR "subjects" <> '{}')::int AS "linked",
    count(*) FILTER (WHERE "is_ambiguous")::int AS "ambiguous",
    (SELECT count(*)::int FROM "identity_signal" WHERE "provider" = $1 AND NOT "is_allowed"
      AND "source" = 'directory' AND "at" > now() - interval '1 hour')
      AS "recentlyDeactivated",
    (SELECT count(*)::int FROM "identity" WHERE "provider" = $1) AS "identities"
  FROM "directory_person" WHERE "provider" = $1 AND "deleted_at" IS NULL`;

const FIRST_ACTIVE = `
  INSERT INTO "directory" ("provider", "first_active_at") VALUES ($1, $2)
  ON CONFLICT DO NOTHING RETURNING 1`;

const PEOPLE = `SELECT "account_id" FROM "identity" WHERE "provider" = $1`;

const HOLD_PEOPLE = `
  SELECT FROM "account" WHERE "id" IN (${PEOPLE}) ORDER BY "id" FOR NO KEY UPDATE`;

const judgeAgain = (table: 'resource_session' | 'program_grant'): string =>
  `UPDATE "${table}" SET "judge_at" = now() WHERE "account_id" IN (${PEOPLE})`;

function isOfNameKey(error: unknown): boolean {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return (
    cause instanceof Error &&
    'constraint' in cause &&
    cause.constraint === 'directory_person_user_name_key'
  );
}

function valuesOf({ externalId, userName, isActive, emails, displayName }: PersonAttributes) {
  const addresses = [...new Set(emails.map(({ value }) => lowerAscii(value)))];
  return [externalId, userName, isActive, JSON.stringify(emails), addresses, displayName];
}

function sqlOf(condition: PersonCondition, parameters: Parameters): string {
  switch (condition.attribute) {
    case 'id':
      return isUuid(condition.value) ? `"id" = ${parameters.bind(condition.value)}::uuid` : 'false';
    case 'externalId':
      return `"external_id" = ${parameters.bind(condition.value)}`;
    case 'userName':
      return `lower("user_name" COLLATE "C") = ${parameters.bind(lowerAscii(condition.value))}`;
    case 'email':
      return emailSql(condition, parameters);
  }
}

/** An element has to meet both parts; the array of addresses has the index. */
function emailSql(
  { value, type }: Extract<PersonCondition, { attribute: 'email' }>,
  parameters: Parameters,
): string {
  const address = value === undefined ? null : parameters.bind(lowerAscii(value));
  const parts = [
    ...(address === null ? [] : [`lower(("email" ->> 'value') COLLATE "C") = ${address}::text`]),
    ...(type === undefined
      ? []
      : [`lower(("email" ->> 'type') COLLATE "C") = ${parameters.bind(lowerAscii(type))}::text`]),
  ];
  const element = `EXISTS (SELECT FROM jsonb_array_elements("emails") AS "email"
    WHERE ${parts.join(' AND ')})`;
  return address === null ? element : `"email_values" @> ARRAY[${address}::text] AND ${element}`;
}
