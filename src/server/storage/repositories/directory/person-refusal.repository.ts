import { Injectable } from '@nestjs/common';
import { In, IsNull } from 'typeorm';
import { isUuid } from '../../../../common/uuid.js';
import type { AuditEvent } from '../../../../core/policy/audit-event.js';
import type { DirectoryRules } from '../../../../core/policy/eligibility/provider-rules.js';
import type { ActOrigin } from '../account-admin.repository.js';
import { insertAuditEvents } from '../audit.repository.js';
import { removeEmailRefusals } from '../signals/email-signals.js';
import { DatabaseService, type Transaction } from '../../database.service.js';
import { DirectoryPersonEntity } from '../../entities/directory-person.entity.js';

type Match = DirectoryRules['match'];

/** A person of a provider, as the directory, an event or the list of unmatched people names them. */
interface NamedPerson {
  readonly provider: string;
  /** null = the provider has no directory. */
  readonly match: Match | null;
  readonly name: string;
}

interface FoundPerson extends Pick<
  DirectoryPersonEntity,
  'id' | 'externalId' | 'userName' | 'subject'
> {
  readonly emails: readonly string[];
  readonly isDeleted: boolean;
}

/** People without an account. An e-mail address is a name only where identities match by it. */
const FIND = (match: Match): string => `
  SELECT "id", "external_id" AS "externalId", "user_name" AS "userName", "subject",
    "email_values" AS "emails", "deleted_at" IS NOT NULL AS "isDeleted"
  FROM "directory_person" AS "person"
  WHERE "provider" = $1
    AND ("id" = $3::uuid OR "external_id" = $2 OR "subject" = $2
      OR lower("user_name" COLLATE "C") = lower($2::text COLLATE "C")
      ${match === 'email' ? 'OR "email_values" @> ARRAY[lower($2::text COLLATE "C")]' : ''}
      OR ("former_names" <> '{}' AND "former_names" @> ARRAY[lower($2::text COLLATE "C")]))
    AND NOT EXISTS (SELECT FROM "identity"
      WHERE "identity"."provider" = $1 AND "identity"."subject" = "person"."subject")
  ORDER BY "id" FOR UPDATE OF "person"`;

/** Ends the refusals of people who have no account that an administrator could enable. */
@Injectable()
export class PersonRefusalRepository {
  constructor(private readonly database: DatabaseService) {}

  /**
   * Ends the refusals of all sources: the next login is judged by the rules alone, until a source
   * refuses the person again.
   * @returns the audit events that were stored; none when nothing refused the person
   */
  end(named: NamedPerson, origin: ActOrigin, now: Date): Promise<readonly AuditEvent[]> {
    return this.database.transaction(async (tx) => {
      const { provider, match, name } = named;
      const people = match === null ? [] : await find(tx, match, named);
      // In the order of a login, so that neither waits for the other.
      const ended = [
        await this.endOfDirectory(tx, people, now),
        await removeEmailRefusals(tx, provider, emailsOf(name, people)),
        await this.endOfSubjects(tx, provider, subjectsOf(named, people)),
      ];
      if (!ended.includes(true)) {
        return [];
      }
      const names = people.map(({ externalId, userName }) => externalId ?? userName);
      const about = { kind: 'refusal-ended', accountId: null, provider, ...origin } as const;
      const subjects = names.length > 0 ? names : [name];
      const events = subjects.map((subject) => ({ ...about, subject }));
      await insertAuditEvents(tx, events, now);
      return events;
    });
  }

  /** The directory's people stay: a later request about them finds them. Deleted ones have no use. */
  private async endOfDirectory(
    { manager }: Transaction,
    people: readonly FoundPerson[],
    now: Date,
  ): Promise<boolean> {
    const idsOf = (isDeleted: boolean): string[] =>
      people.filter((person) => person.isDeleted === isDeleted).map(({ id }) => id);
    const marked = await manager.update(
      DirectoryPersonEntity,
      { id: In(idsOf(false)), subject: IsNull(), isActive: false, refusalEndedAt: IsNull() },
      { refusalEndedAt: now },
    );
    const deleted = await manager.delete(DirectoryPersonEntity, { id: In(idsOf(true)) });
    return marked.affected !== 0 || deleted.affected !== 0;
  }

  private async endOfSubjects(
    tx: Transaction,
    provider: string,
    subjects: readonly string[],
  ): Promise<boolean> {
    const removed = await tx.query(
      `DELETE FROM "identity_signal" AS "signal"
       WHERE "provider" = $1 AND "subject" = ANY($2::text[]) AND NOT "is_allowed"
         AND NOT EXISTS (SELECT FROM "identity" WHERE "identity"."provider" = $1
           AND "identity"."subject" = "signal"."subject") RETURNING 1`,
      [provider, subjects],
    );
    return removed.length > 0;
  }
}

function find(
  tx: Transaction,
  match: Match,
  { provider, name }: NamedPerson,
): Promise<FoundPerson[]> {
  return tx.query<FoundPerson>(FIND(match), [provider, name, isUuid(name) ? name : null]);
}

function emailsOf(name: string, people: readonly FoundPerson[]): string[] {
  return [...new Set([name, ...people.flatMap(({ emails }) => emails)])];
}

function subjectsOf({ match, name }: NamedPerson, people: readonly FoundPerson[]): string[] {
  const known = people.flatMap(({ subject, externalId }) => [
    subject,
    match === 'externalId' ? externalId : null,
  ]);
  return [...new Set([name, ...known.filter((one) => one !== null)])];
}
