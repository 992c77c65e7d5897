import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../policy/audit-event.js';
import type { EligibilityFacts } from '../policy/eligibility.js';
import type { LinkedIdentity } from '../policy/external-link.js';
import { issuersOf, type Authority } from '../policy/identity-issuer.js';
import type { AccountMode, KeyMode } from '../policy/storage-policy.js';
import { insertAuditEvents } from './audit.repository.js';
import { Database, type Query } from './database.js';
import { IdentityCredentials } from './identity-credentials.js';
import { nextUpdateSeq } from './update-seq.js';

/** Somebody whom a provider has just named. */
export interface ProvenIdentity {
  readonly provider: string;
  readonly subject: string;
  /** Who named them; null = identities of this kind have no issuer. */
  readonly authority: Authority | null;
  readonly facts: EligibilityFacts;
  /** What a later re-check needs; null keeps what is stored. */
  readonly credentials: string | null;
  readonly checkedAt: Date;
  readonly nextCheckAt: Date | null;
}

export interface KnownIdentity {
  readonly accountId: string;
  readonly accountMode: AccountMode;
  /** null = stored before issuers were. */
  readonly issuer: string | null;
}

/** Identities of a provider id that another issuer named. */
export interface ForeignIdentities {
  readonly issuer: string;
  readonly identities: number;
}

export interface AccountIdentities {
  /** null when the account is gone. */
  readonly keyMode: KeyMode | null;
  readonly providers: readonly string[];
}

/** A change that the account's clients are told. */
export interface IdentityChange {
  readonly accountId: string;
  readonly seq: number;
  /** Its trace, stored with it; null when it changes nothing about access. */
  readonly event: AuditEvent | null;
}

/**
 * Links between accounts and their identities. Rows are locked identity first, account second:
 * whoever changes both keeps to that order.
 */
@Injectable()
export class IdentityRepository {
  constructor(
    private readonly database: Database,
    private readonly credentials: IdentityCredentials,
  ) {}

  async find(provider: string, subject: string): Promise<KnownIdentity | null> {
    const [known] = await this.database.query<KnownIdentity>(
      `SELECT "account_id" AS "accountId", "encryption_mode" AS "accountMode", "issuer"
       FROM "identity" JOIN "account" ON "account"."id" = "identity"."account_id"
       WHERE "provider" = $1 AND "subject" = $2`,
      [provider, subject],
    );
    return known ?? null;
  }

  /** Identities that a link of this one to the account could meet, locked. */
  async lockAround(
    query: Query,
    accountId: string,
    { provider, subject }: ProvenIdentity,
  ): Promise<LinkedIdentity[]> {
    const rows = await query<LinkedRow>(
      `SELECT "account_id" AS "accountId", "subject", "issuer", "login",
         "eligibility_status" AS "status",
         "eligibility_checked_at" AS "checkedAt"
       FROM "identity" WHERE "provider" = $1 AND ("subject" = $2 OR "account_id" = $3)
       ORDER BY "id" FOR UPDATE`,
      [provider, subject, accountId],
    );
    return rows.map((row) => ({ ...row, checkedAt: row.checkedAt?.getTime() ?? null }));
  }

  /** @returns false when somebody else linked it, or another one to this account, a moment ago */
  async insert(query: Query, accountId: string, proven: ProvenIdentity): Promise<boolean> {
    const inserted = await query(
      `INSERT INTO "identity" ("provider", "subject", "login", "facts", "credentials",
         "eligibility_status", "eligibility_checked_at", "eligibility_next_check_at", "issuer",
         "account_id", "id", "connected_at")
       VALUES ($1, $2, $3, $4, $5, 'eligible', $6, $7, $8, $9, $10, $6)
       ON CONFLICT DO NOTHING RETURNING "id"`,
      [...this.toColumns(accountId, proven), accountId, randomUUID()],
    );
    return inserted.length > 0;
  }

  /** Stores what the provider said of an identity that is linked already. */
  async refresh(query: Query, accountId: string, proven: ProvenIdentity): Promise<void> {
    await query(
      `UPDATE "identity" SET "login" = $3, "facts" = $4,
         "credentials" = COALESCE($5, "credentials"), "eligibility_status" = 'eligible',
         "eligibility_reason" = NULL, "eligibility_checked_at" = $6,
         "eligibility_next_check_at" = $7, "consecutive_failures" = 0, "lease_until" = NULL,
         "issuer" = $8
       WHERE "provider" = $1 AND "subject" = $2`,
      this.toColumns(accountId, proven),
    );
  }

  /**
   * Stores that the provider's answer about an identity, if it is known here, was a no. A re-check
   * that is under way began before and loses its lease.
   *
   * @returns null when nothing changed
   */
  recordRefusal(proven: ProvenIdentity, reason: string): Promise<IdentityChange | null> {
    const { provider, subject, authority, facts, checkedAt, nextCheckAt } = proven;
    const issuers = authority === null ? [] : issuersOf(authority);
    return this.database.transaction(async (query) => {
      const [refused] = await query<{ accountId: string }>(
        `UPDATE "identity" SET "login" = $3, "facts" = $4, "eligibility_status" = 'ineligible',
           "eligibility_reason" = $5, "eligibility_checked_at" = $6,
           "eligibility_next_check_at" = $7, "consecutive_failures" = 0, "lease_until" = NULL
         WHERE "provider" = $1 AND "subject" = $2 AND "eligibility_status" <> 'ineligible'
           AND ("eligibility_checked_at" IS NULL OR "eligibility_checked_at" < $6)
           AND ("issuer" IS NULL OR "issuer" = ANY($8::text[]))
         RETURNING "account_id" AS "accountId"`,
        [
          ...[provider, subject, facts.login, JSON.stringify(facts)],
          ...[reason, checkedAt, nextCheckAt, issuers],
        ],
      );
      if (refused === undefined) {
        return null;
      }
      const { accountId } = refused;
      const event = { kind: 'eligibility-lost', actor: 'provider', provider, reason } as const;
      return this.noteChange(query, accountId, { ...event, accountId }, checkedAt);
    });
  }

  /**
   * The identities of an account, locked until the transaction ends, with what opens it besides:
   * two that are taken away at once wait for each other.
   */
  async lockOf(query: Query, accountId: string): Promise<AccountIdentities> {
    const identities = await query<{ provider: string }>(
      `SELECT "provider" FROM "identity" WHERE "account_id" = $1 ORDER BY "id" FOR UPDATE`,
      [accountId],
    );
    const [account] = await query<{ keyMode: KeyMode }>(
      `SELECT "key_mode" AS "keyMode" FROM "account" WHERE "id" = $1`,
      [accountId],
    );
    return {
      keyMode: account?.keyMode ?? null,
      providers: identities.map(({ provider }) => provider),
    };
  }

  /** Identities under a provider id that another issuer named, at most 10 issuers of them. */
  foreign(provider: string, authority: Authority): Promise<ForeignIdentities[]> {
    return this.database.query<ForeignIdentities>(
      `SELECT "issuer", count(*)::int AS "identities" FROM "identity"
       WHERE "provider" = $1 AND "issuer" IS NOT NULL AND "issuer" <> ALL($2::text[])
       GROUP BY "issuer" LIMIT 10`,
      [provider, issuersOf(authority)],
    );
  }

  /** @returns null when there was nothing to unlink */
  async unlink(
    query: Query,
    accountId: string,
    provider: string,
    now: Date,
  ): Promise<IdentityChange | null> {
    const unlinked = await query(
      `DELETE FROM "identity" WHERE "account_id" = $1 AND "provider" = $2 RETURNING "id"`,
      [accountId, provider],
    );
    const event = { kind: 'identity-unlinked', actor: 'user', accountId, provider } as const;
    return unlinked.length === 0 ? null : this.noteChange(query, accountId, event, now);
  }

  /**
   * Numbers a change for the account's clients and stores its trace, in the transaction that makes
   * it.
   *
   * @returns null when the account is gone
   */
  async noteChange(
    query: Query,
    accountId: string,
    event: AuditEvent | null,
    now: Date,
  ): Promise<IdentityChange | null> {
    const seq = await nextUpdateSeq(query, accountId);
    if (seq !== null && event !== null) {
      await insertAuditEvents(query, [event], now);
    }
    return seq === null ? null : { accountId, seq, event };
  }

  private toColumns(accountId: string, proven: ProvenIdentity): unknown[] {
    const { provider, subject, facts } = proven;
    return [
      provider,
      subject,
      facts.login,
      JSON.stringify(facts),
      this.credentials.seal(accountId, provider, proven.credentials),
      proven.checkedAt,
      proven.nextCheckAt,
      proven.authority?.issuer ?? null,
    ];
  }
}

interface LinkedRow extends Omit<LinkedIdentity, 'checkedAt'> {
  readonly checkedAt: Date | null;
}
