import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../policy/audit-event.js';
import type { CertificateRecord } from '../../policy/certificate/certificate-record.js';
import type { EligibilityFacts } from '../../policy/eligibility/eligibility.js';
import {
  type LinkedIdentity,
  issuersOf,
  type Authority,
} from '../../policy/eligibility/identity-link.js';
import type { AccountMode } from '../../policy/operator-policy.js';
import { insertAuditEvents } from './audit.repository.js';
import { Database, type Query } from '../database.js';
import { AccountEntity } from '../entities/account.entity.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { IdentityCredentials } from '../sealing/content-at-rest.js';
import { nextUpdateSeq } from '../account-row.js';

/** An identity that a provider has just proven. */
export interface ProvenIdentity {
  readonly provider: string;
  readonly subject: string;
  /** The issuer of the subject; null = identities of this kind have no issuer. */
  readonly authority: Authority | null;
  readonly facts: EligibilityFacts;
  /** What a later re-check needs; null keeps what is stored. */
  readonly credentials: string | null;
  /** null = not a certificate. */
  readonly certificate: CertificateRecord | null;
  readonly checkedAt: Date;
  /** Of an identity that is new here; null = nothing is re-checked. */
  readonly firstCheckAt: Date | null;
  /** Of one that is known. */
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

/** A change to send to the account's clients. */
export interface IdentityChange {
  readonly accountId: string;
  readonly seq: number;
  /** Its audit event, stored with it; null when it changes nothing about access. */
  readonly event: AuditEvent | null;
}

/**
 * Links between accounts and their identities. Rows are locked identity first, account second:
 * every transaction that changes both keeps to that order.
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

  /** Identities that a link of this one to the account could conflict with, locked. */
  async lockAround(
    { manager }: Query,
    accountId: string,
    { provider, subject }: ProvenIdentity,
  ): Promise<LinkedIdentity[]> {
    const identities = await manager.find(IdentityEntity, {
      where: [
        { provider, subject },
        { provider, accountId },
      ],
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
    return identities.map((identity) => ({
      accountId: identity.accountId,
      subject: identity.subject,
      issuer: identity.issuer,
      login: identity.login,
      status: identity.eligibilityStatus,
      checkedAt: identity.eligibilityCheckedAt?.getTime() ?? null,
    }));
  }

  /** @returns false when it was linked elsewhere, or another one to this account, a moment ago */
  async insert({ manager }: Query, accountId: string, proven: ProvenIdentity): Promise<boolean> {
    const { provider, subject, checkedAt } = proven;
    const sealed = this.credentials.seal(accountId, provider, proven.credentials);
    const inserted = await manager
      .createQueryBuilder()
      .insert()
      .into(IdentityEntity)
      .values({
        ...{ id: randomUUID(), accountId, provider, subject, connectedAt: checkedAt },
        ...confirmed(proven),
        eligibilityNextCheckAt: proven.firstCheckAt,
        credentials: sealed,
      })
      .orIgnore()
      .returning('id')
      .updateEntity(false)
      .execute();
    return (inserted.raw as unknown[]).length > 0;
  }

  /** Stores what the provider returned about an identity that is linked already. */
  async refresh({ manager }: Query, accountId: string, proven: ProvenIdentity): Promise<void> {
    const { provider, subject, credentials } = proven;
    const sealed = this.credentials.seal(accountId, provider, credentials);
    await manager.update(
      IdentityEntity,
      { provider, subject },
      {
        ...confirmed(proven),
        ...(sealed !== null && { credentials: sealed }),
        eligibilityReason: null,
        consecutiveFailures: 0,
        leaseUntil: null,
      },
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
   * The identities of an account, locked until the transaction ends, with its key mode: of two that
   * are unlinked at once the second waits for the first.
   */
  async lockOf({ manager }: Query, accountId: string) {
    const identities = await manager.find(IdentityEntity, {
      where: { accountId },
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
    const select = { id: true, keyMode: true } as const;
    const account = await manager.findOne(AccountEntity, { select, where: { id: accountId } });
    const providers = identities.map(({ provider }) => provider);
    return { keyMode: account?.keyMode ?? null, providers };
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
    const { affected } = await query.manager.delete(IdentityEntity, { accountId, provider });
    const event = { kind: 'identity-unlinked', actor: 'user', accountId, provider } as const;
    return affected === 0 ? null : this.noteChange(query, accountId, event, now);
  }

  /**
   * Numbers a change for the account's clients and stores its audit event, in the transaction that
   * makes it.
   *
   * @throws AppError `token-revoked` when the account is gone
   */
  async noteChange(
    query: Query,
    accountId: string,
    event: AuditEvent | null,
    now: Date,
  ): Promise<IdentityChange> {
    const seq = await nextUpdateSeq(query, accountId);
    if (event !== null) {
      await insertAuditEvents(query, [event], now);
    }
    return { accountId, seq, event };
  }
}

/** What is stored of an identity that its provider has just confirmed. */
function confirmed({ facts, checkedAt, nextCheckAt, authority, certificate }: ProvenIdentity) {
  return {
    // A code of an earlier version has none.
    ...(certificate !== null && { certificate }),
    login: facts.login,
    facts,
    eligibilityStatus: 'eligible' as const,
    eligibilityCheckedAt: checkedAt,
    eligibilityNextCheckAt: nextCheckAt,
    issuer: authority?.issuer ?? null,
  };
}
