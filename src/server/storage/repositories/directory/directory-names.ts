import { lowerAscii } from '../../../../common/lower-ascii.js';
import type { EligibilityFacts } from '../../../../core/policy/eligibility/eligibility.js';
import type { DirectoryRules } from '../../../../core/policy/eligibility/provider-rules.js';
import { lockNamed } from '../../advisory-locks.js';
import type { Transaction } from '../../database.service.js';
import type { DirectoryPerson } from './directory-person.repository.js';

export type Match = DirectoryRules['match'];

/** A name gets other owners in time; an id does not. */
export type NameMatch = Extract<Match, 'userName' | 'email'>;

export interface MatchedLogin {
  readonly provider: string;
  readonly subject: string;
  readonly facts: Pick<EligibilityFacts, 'login' | 'email' | 'emailVerified' | 'oid'>;
}

/** The person before and after a request; null = did not exist, or no longer does. */
export interface PersonChange {
  readonly before: DirectoryPerson | null;
  readonly after: DirectoryPerson | null;
}

/** The word of a directory about a subject, by what it says about the person. */
export interface DirectoryWord {
  readonly isAllowed: boolean;
  readonly personId: string;
}

/** The subjects that a request of a directory concerns. */
export interface PersonMatch {
  /** Subjects whose access ends if the person is refused. */
  readonly refused: readonly string[];
  /** The subject that the person's activation admits; null = none. */
  readonly admitted: string | null;
  readonly isAmbiguous: boolean;
  /** True if a first login does not have to look for the person's refusal. */
  readonly isKnown: boolean;
}

export function isNameMatch(match: Match): match is NameMatch {
  return match === 'userName' || match === 'email';
}

/** Returns the names by which identities match the person, as {@link lowerAscii} writes them. */
export function namesOf(match: NameMatch, { userName, emails }: DirectoryPerson): string[] {
  const names = match === 'userName' ? [userName] : emails.map(({ value }) => value);
  return names.map(lowerAscii);
}

/** SQL of the name that the last login of an identity proved. */
export const NAME_OF_IDENTITY: Readonly<Record<NameMatch, string>> = {
  userName: `lower("identity"."login" COLLATE "C")`,
  email: `lower(("identity"."facts" ->> 'email') COLLATE "C")`,
};

/** SQL: the last login of the identity proved its name. */
export const PROVES_NAME: Readonly<Record<NameMatch, string>> = {
  userName: 'true',
  email: `"identity"."facts" ->> 'emailVerified' = 'true'`,
};

/** SQL: the person `alias` has the name. */
export function bears(match: NameMatch, alias: string, name: string): string {
  return match === 'userName'
    ? `lower("${alias}"."user_name" COLLATE "C") = ${name}`
    : `"${alias}"."email_values" @> ARRAY[${name}]`;
}

/**
 * True if the directory gave the entry to another person, or corrected the id: it does not say which. The id of a person
 * who was matched may have been removed in between.
 */
export function isOfOtherId({ before, after }: PersonChange): boolean {
  const [former, id] = [before?.externalId ?? null, after?.externalId ?? null];
  const isMatched = before !== null && (before.subject !== null || before.subjects.length > 0);
  return id !== null && former !== id && (former !== null || isMatched);
}

export function lockNames(
  tx: Transaction,
  provider: string,
  names: readonly string[],
): Promise<void> {
  return lockNamed(
    tx,
    names.map((name) => `gatehouse directory ${provider} ${lowerAscii(name)}`),
  );
}

/** Locks the links to the subjects: people with different names may match them meanwhile. */
export function lockLinks(
  tx: Transaction,
  provider: string,
  subjects: readonly string[],
): Promise<void> {
  return lockNamed(
    tx,
    subjects.map((subject) => `gatehouse directory link ${provider} ${subject}`),
  );
}

/** Keeps names of a refused person; one that is active again needs none. */
export async function keepNames(
  tx: Transaction,
  { id, isActive, formerNames }: DirectoryPerson,
  names: readonly string[],
): Promise<void> {
  if (names.length > 0 || (isActive && formerNames.length > 0)) {
    await tx.query(
      `UPDATE "directory_person" SET "former_names" = CASE WHEN "is_active" THEN '{}' ELSE ARRAY(
         SELECT unnest("former_names") UNION SELECT unnest($2::text[])) END
       WHERE "id" = $1`,
      [id, names],
    );
  }
}
