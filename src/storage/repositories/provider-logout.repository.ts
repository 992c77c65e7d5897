import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../database.js';
import { DUE_NOW } from './identity-due.repository.js';
import { hashOfProviderSession } from './session.repository.js';

/** What a logout token names (OpenID Connect Back-Channel Logout 1.0, 2.4). */
export interface LogoutRequest {
  readonly tokenId: string;
  readonly subject: string | null;
  readonly providerSession: string | null;
}

export interface EndedSession {
  readonly id: string;
  readonly accountId: string;
}

/** The reason in the audit trail. */
export const LOGOUT_REASON = 'backchannel-logout';

const LOG_OUT = `
  WITH "used" AS (
    INSERT INTO "logout_token" ("token_hash", "expires_at") VALUES ($1, $2)
    ON CONFLICT ("token_hash") DO NOTHING RETURNING 1),
  "made" AS (
    UPDATE "identity" SET "eligibility_next_check_at" = ${DUE_NOW}
    WHERE "provider" = $3 AND "subject" = $4::text AND EXISTS (SELECT FROM "used") RETURNING 1),
  "ended" AS (
    DELETE FROM "session" WHERE "provider_session" = $5::bytea AND EXISTS (SELECT FROM "used")
    RETURNING "id", "account_id"),
  "audited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "reason",
      "session_id")
    SELECT $6, 'token-revoked', 'provider', "account_id", $3, '${LOGOUT_REASON}', "id"
    FROM "ended")
  SELECT (SELECT count(*)::int FROM "made") AS "due",
    COALESCE((SELECT json_agg(json_build_object('id', "id", 'accountId', "account_id"))
      FROM "ended"), '[]') AS "ended"
  FROM "used"`;

/** Logouts at a provider, and what they end here. */
@Injectable()
export class ProviderLogoutRepository {
  constructor(private readonly database: Database) {}

  /**
   * Ends the sessions whose login was part of the provider's session, and makes the identity of the
   * subject due. Once for each logout token: its use and the changes are stored together, so that
   * a token whose delivery failed can be sent again.
   *
   * @param expiresAt until when the token's use is remembered
   * @returns the sessions that ended and how many identities became due; null when this provider's
   *   token of that id was used before
   */
  async logOut(
    provider: string,
    { tokenId, subject, providerSession }: LogoutRequest,
    expiresAt: Date,
    now: Date,
  ): Promise<{ readonly due: number; readonly ended: readonly EndedSession[] } | null> {
    const token = JSON.stringify([provider, tokenId]);
    const [used] = await this.database.query<{ due: number; ended: EndedSession[] }>(LOG_OUT, [
      createHash('sha256').update(token).digest(),
      expiresAt,
      provider,
      subject,
      providerSession === null ? null : hashOfProviderSession(provider, providerSession),
      now,
    ]);
    return used ?? null;
  }
}
