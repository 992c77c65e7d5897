import { Injectable } from '@nestjs/common';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import { holdAccounts } from '../account-row.js';
import { DatabaseService } from '../database.service.js';

const END = `
  WITH "ended" AS (
    DELETE FROM "session" WHERE "account_id" = $1 AND "certificate" = $2::jsonb
    RETURNING "id"),
  "ended_grant" AS (
    DELETE FROM "program_grant" WHERE "account_id" = $1 AND "certificate" = $2::jsonb
    RETURNING "id"),
  "audited_grant" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "reason")
    SELECT $3, 'program-ended', 'provider', $1, $4, $5 FROM "ended_grant"),
  "audited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "reason",
      "session_id")
    SELECT $3, 'token-revoked', 'provider', $1, $4, $5, "id" FROM "ended")
  SELECT "id" FROM "ended" UNION ALL SELECT "id" FROM "ended_grant"`;

/** The certificates that logins showed, where they are not the one that the identity keeps. */
@Injectable()
export class SessionCertificateRepository {
  constructor(private readonly database: DatabaseService) {}

  /** @param newest certificate of the identity, which is left out */
  async othersThan(
    newest: CertificateRecord | null,
    accountId: string,
  ): Promise<CertificateRecord[]> {
    const found = await this.database.query<{ certificate: CertificateRecord }>(
      `SELECT "certificate" FROM "session"
       WHERE "account_id" = $1 AND "certificate" IS NOT NULL AND "expires_at" > now()
         AND "certificate" IS DISTINCT FROM $2::jsonb
       UNION SELECT "certificate" FROM "program_grant"
       WHERE "account_id" = $1 AND "certificate" IS NOT NULL AND "expires_at" > now()
         AND "certificate" IS DISTINCT FROM $2::jsonb`,
      [accountId, newest && JSON.stringify(newest)],
    );
    return found.map(({ certificate }) => certificate);
  }

  /** Ends the account's sessions of one certificate, with their audit events. @returns their ids */
  async end(
    { accountId, provider }: { readonly accountId: string; readonly provider: string },
    certificate: CertificateRecord,
    reason: string,
    now: Date,
  ): Promise<string[]> {
    const parameters = [accountId, JSON.stringify(certificate), now, provider, reason];
    const ended = await this.database.transaction(async (tx) => {
      await holdAccounts(tx, [accountId]);
      return tx.query<{ id: string }>(END, parameters);
    });
    return ended.map(({ id }) => id);
  }
}
