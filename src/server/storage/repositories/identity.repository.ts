import { Injectable } from '@nestjs/common';
import { Random } from '../../../common/runtime/random.js';
import type { AuditEvent } from '../../../core/policy/audit-event.js';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import type { EligibilityFacts } from '../../../core/policy/eligibility/eligibility.js';
import {
  type LinkedIdentity,
  issuersOf,
  type Authority,
} from '../../../core/policy/eligibility/identity-link.js';
import type { AccountMode } from '../../../core/policy/operator-policy.js';
import { insertAuditEvents } from './audit.repository.js';
import { DatabaseService, type Transaction } from '../database.service.js';
import { AccountEntity } from '../entities/account.entity.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { IdentityCredentialsService } from '../sealing/identity-credentials.service.js';
import { lockIdentity, nextUpdateSeq } from '../account-row.js';
import { keepSignOut, lockSignOuts, waitingFor } from './signals/waiting-sign-outs.js';

export interface ProvenIdentity {
  readonly provider: string;
  readonly subject: string;
  /** The issuer of the subject; null = identities of this kind have no issuer. */
  readonly authority: Authority | null;
  readonly facts: EligibilityFacts;
  /** Credentials for later re-checks; null keeps the stored ones. */
  readonly credentials: string | null;
  readonly certificate: CertificateRecord | null;
  readonly checkedAt: Date;
  readonly firstCheckAt: Date | null;
  readonly nextCheckAt: Date | null;
}

export interface KnownIdentity {
  readonly accountId: string;
  readonly accountMode: AccountMode;
  /** null = stored before issuers were stored. */
  readonly issuer: string | null;
}

interface ForeignIdentities {
  readonly issuer: string;
  readonly identities: number;
}

export interface IdentityChange {
  readonly accountId: string;
  readonly seq: number;
  /** Audit event, stored with the change; null when the change does not affect access. */
  readonly event: AuditEvent | null;
}

/**
 * A login may be finished minutes after its proof. A check that is due still takes place: a signal that is newer than
 * the proof may have asked for it, also while this transaction waited.
 */
const KEEP_DUE = `
  CASE WHEN "eligibility_next_check_at" <= clock_timestamp()
    THEN "eligibility_next_check_at" ELSE :nextCheckAt::timestamptz END`;

@Injectable()
export class IdentityRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly credentials: IdentityCredentialsService,
    private readonly random: Random,
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

  /** Locks the identity, and returns those with which a link of it could conflict. */
  async lockAround(
    tx: Transaction,
    accountId: string,
    { provider, subject }: ProvenIdentity,
  ): Promise<LinkedIdentity[]> {
    await lockIdentity(tx, { provider, subject });
    // Without a lock on the account's other one: a login with a key has locked the account.
    const identities = await tx.manager.find(IdentityEntity, {
      where: [
        { provider, subject },
        { provider, accountId },
      ],
      order: { id: 'ASC' },
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

  /** @returns false when a concurrent transaction linked either of the two elsewhere */
  async insert(
    { manager }: Transaction,
    accountId: string,
    proven: ProvenIdentity,
  ): Promise<boolean> {
    const { provider, subject, checkedAt } = proven;
    const sealed = this.credentials.seal(accountId, provider, proven.credentials);
    const inserted = await manager
      .createQueryBuilder()
      .insert()
      .into(IdentityEntity)
      .values({
        id: this.random.uuid(),
        accountId,
        provider,
        subject,
        connectedAt: checkedAt,
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

  async refresh(
    { manager }: Transaction,
    accountId: string,
    proven: ProvenIdentity,
  ): Promise<void> {
    const { provider, subject, credentials, nextCheckAt } = proven;
    const sealed = this.credentials.seal(accountId, provider, credentials);
    await manager
      .createQueryBuilder()
      .update(IdentityEntity)
      .set({
        ...confirmed(proven),
        ...(sealed !== null && { credentials: sealed }),
        eligibilityNextCheckAt: () => KEEP_DUE,
        eligibilityReason: null,
        consecutiveFailures: 0,
        leaseUntil: null,
      })
      .where({ provider, subject })
      .setParameters({ nextCheckAt })
      .execute();
  }

  /**
   * Stores a provider's refusal of a known identity. A running re-check loses its lease. Earlier logins that are not
   * finished end, also those of a person without an account.
   * @returns null when nothing changed
   */
  recordRefusal(proven: ProvenIdentity, reason: string): Promise<IdentityChange | null> {
    const { provider, subject, authority, facts, checkedAt, nextCheckAt } = proven;
    const issuers = authority === null ? [] : issuersOf(authority);
    return this.database.transaction(async (tx) => {
      await lockSignOuts(tx, provider, [{ subject }]);
      await lockIdentity(tx, proven);
      await keepSignOut(tx, provider, waitingFor('refusal', [{ subject }]), checkedAt, checkedAt);
      const [refused] = await tx.query<{ accountId: string }>(
        `UPDATE "identity" SET "login" = $3, "facts" = $4, "eligibility_status" = 'ineligible',
           "eligibility_reason" = $5, "eligibility_checked_at" = $6,
           "eligibility_next_check_at" = $7, "consecutive_failures" = 0, "lease_until" = NULL
         WHERE "provider" = $1 AND "subject" = $2 AND "eligibility_status" <> 'ineligible'
           AND ("issuer" IS NULL OR "issuer" = ANY($8::text[]))
         RETURNING "account_id" AS "accountId"`,
        [
          provider,
          subject,
          facts.login,
          JSON.stringify(facts),
          reason,
          checkedAt,
          nextCheckAt,
          issuers,
        ],
      );
      if (refused === undefined) {
        return null;
      }
      const { accountId } = refused;
      const event = { kind: 'eligibility-lost', actor: 'provider', provider, reason } as const;
      return this.noteChange(tx, accountId, { ...event, accountId }, checkedAt);
    });
  }

  /** Locks and returns an account's identities, with its key mode. A second unlink waits. */
  async lockOf({ manager }: Transaction, accountId: string) {
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

  /** Returns identities under a provider id with another issuer, of at most 10 issuers. */
  foreign(provider: string, authority: Authority): Promise<ForeignIdentities[]> {
    return this.database.query<ForeignIdentities>(
      `SELECT "issuer", count(*)::int AS "identities" FROM "identity"
       WHERE "provider" = $1 AND "issuer" IS NOT NULL AND "issuer" <> ALL($2::text[])
       GROUP BY "issuer" LIMIT 10`,
      [provider, issuersOf(authority)],
    );
  }

  /** Earlier logins that are not finished end: the next one cannot find what is known about the identity. */
  async unlink(
    tx: Transaction,
    accountId: string,
    provider: string,
    now: Date,
  ): Promise<IdentityChange | null> {
    const unlinked = await tx.query<{ subject: string }>(
      `DELETE FROM "identity" WHERE "account_id" = $1 AND "provider" = $2 RETURNING "subject"`,
      [accountId, provider],
    );
    await keepSignOut(tx, provider, waitingFor('refusal', unlinked), now, now);
    const event = { kind: 'identity-unlinked', actor: 'user', accountId, provider } as const;
    return unlinked.length === 0 ? null : this.noteChange(tx, accountId, event, now);
  }

  /**
   * Stores the audit event of a change and takes its `seq`, in the same transaction.
   * @throws AppError `token-revoked` when the account is deleted
   */
  async noteChange(
    tx: Transaction,
    accountId: string,
    event: AuditEvent | null,
    now: Date,
  ): Promise<IdentityChange> {
    const seq = await nextUpdateSeq(tx, accountId);
    if (event !== null) {
      await insertAuditEvents(tx, [event], now);
    }
    return { accountId, seq, event };
  }
}

function confirmed({ facts, checkedAt, nextCheckAt, authority, certificate }: ProvenIdentity) {
  return {
    certificate,
    login: facts.login,
    facts,
    eligibilityStatus: 'eligible' as const,
    eligibilityCheckedAt: checkedAt,
    eligibilityNextCheckAt: nextCheckAt,
    issuer: authority?.issuer ?? null,
  };
}
