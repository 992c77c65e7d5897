import { Injectable } from '@nestjs/common';
import type { EndEvent } from '../../../core/policy/audit-event.js';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import { holdAccounts } from '../account-row.js';
import { DatabaseService } from '../database.service.js';
import { endSessions } from './session-end.repository.js';

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

  /**
   * Ends the account's sessions of one certificate, and the grants of programs that they approved.
   * @returns the stored audit events
   */
  end(
    { accountId, provider }: { readonly accountId: string; readonly provider: string },
    certificate: CertificateRecord,
    reason: string,
    now: Date,
  ): Promise<EndEvent[]> {
    const of = {
      where: `"account_id" = $1 AND "certificate" = $2::jsonb`,
      parameters: [accountId, JSON.stringify(certificate)],
    };
    const by = { actor: 'provider', provider, reason } as const;
    return this.database.transaction(async (tx) => {
      await holdAccounts(tx, [accountId]);
      return endSessions(tx, { sessions: of, grants: of }, by, now);
    });
  }
}
