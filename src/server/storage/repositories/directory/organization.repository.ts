import { Injectable } from '@nestjs/common';
import { DatabaseService } from '../../database.service.js';

/** An organisation of the rules, as a provider at an issuer knows it. */
interface NamedOrganization {
  readonly provider: string;
  readonly issuer: string;
  /** Lower case. */
  readonly name: string;
}

const FIND = `
  SELECT "organization_id" AS "id" FROM "organization"
  WHERE "provider" = $1 AND "issuer" = $2 AND "name" = $3`;

/** The update changes nothing, and makes the statement return the row that was first. */
const KEEP = `
  INSERT INTO "organization" ("provider", "issuer", "name", "organization_id", "first_seen_at")
  VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT ("provider", "issuer", "name") DO UPDATE SET "name" = EXCLUDED."name"
  RETURNING "organization_id" AS "id"`;

interface IdRow {
  readonly id: string;
}

/** The ids of organisations, by the name that rules give them. */
@Injectable()
export class OrganizationRepository {
  constructor(private readonly database: DatabaseService) {}

  async find({ provider, issuer, name }: NamedOrganization): Promise<string | null> {
    const [row] = await this.database.query<IdRow>(FIND, [provider, issuer, name]);
    return row?.id ?? null;
  }

  /** Keeps the first id of a name. @returns the id that is kept */
  async keep(
    { provider, issuer, name }: NamedOrganization,
    id: string,
    now: Date,
  ): Promise<string> {
    const [row] = await this.database.query<IdRow>(KEEP, [provider, issuer, name, id, now]);
    return row?.id ?? id;
  }
}
