import { Injectable } from '@nestjs/common';
import type { AuditEvent } from '../../policy/audit-event.js';
import { CERTIFICATES } from '../../policy/admission/admission.js';
import type { CertificateRecord } from '../../policy/certificate/certificate-record.js';
import type { EligibilityFacts, EligibilityStatus } from '../../policy/eligibility/eligibility.js';
import type { EligibilityRecord, ScheduledRecord } from '../../policy/eligibility/offboarding.js';
import { Database } from '../database.js';
import { IdentityCredentials } from '../sealing/content-at-rest.js';

/** An identity that this process alone may re-check, until its lease ends. */
export interface LeasedIdentity {
  readonly id: string;
  readonly accountId: string;
  readonly provider: string;
  readonly subject: string;
  /** null = stored before issuers were. */
  readonly issuer: string | null;
  readonly login: string | null;
  readonly record: EligibilityRecord;
  /** When it becomes or became due, Unix milliseconds. */
  readonly dueAt: number;
  /** Milliseconds until then, by the database's clock; 0 = it was due. */
  readonly dueInMs: number;
  /** Sealed; {@link IdentityDueRepository.openCredentials}. */
  readonly credentials: Buffer | null;
  /** What the provider said last; null = nothing yet. */
  readonly facts: EligibilityFacts | null;
  /** null = not a certificate, or linked before certificates were stored. */
  readonly certificate: CertificateRecord | null;
  /** Names this lease: a worker with an older one can store nothing. */
  readonly leaseUntil: Date;
}

/** What is stored of the last answer about an identity. */
export interface AnsweredIdentity extends Pick<LeasedIdentity, 'id' | 'subject' | 'facts'> {
  readonly status: EligibilityStatus;
  readonly certificate: CertificateRecord | null;
}

export interface RecheckResult {
  readonly record: ScheduledRecord;
  /** What the provider returned; null keeps what is stored. */
  readonly facts: EligibilityFacts | null;
  /** The issuer of the subject; null keeps what is stored. */
  readonly issuer: string | null;
  /** Stored with the result, or neither is; null when nothing changed for the account. */
  readonly event: AuditEvent | null;
}

const ADOPT_BATCH = 1000;
/** The driver's Date cuts microseconds off. */
export const DUE_NOW = `date_trunc('milliseconds', now())`;

const IS_NAMED = `("certificate" #>> '{reference,issuerName}' = $2
  AND "certificate" #>> '{reference,serialNumber}' = ANY($3::text[]))`;

/** The queue of identities to re-check. Leases go by the database's clock: replicas' may differ. */
@Injectable()
export class IdentityDueRepository {
  constructor(
    private readonly database: Database,
    private readonly sealing: IdentityCredentials,
  ) {}

  /**
   * Leases up to `limit` identities of one provider that no worker has, by one statement.
   *
   * @param aheadMs also those that become due within this time
   */
  async lease(
    provider: string,
    limit: number,
    leaseMs: number,
    aheadMs: number,
  ): Promise<LeasedIdentity[]> {
    const rows = await this.database.query<LeasedRow>(
      `WITH "due" AS MATERIALIZED (
         SELECT "id" FROM "identity"
         WHERE "provider" = $1
           AND "eligibility_next_check_at" <= now() + $4 * interval '1 millisecond'
           AND ("lease_until" IS NULL OR "lease_until" <= now())
         ORDER BY "eligibility_next_check_at" LIMIT $2 FOR UPDATE SKIP LOCKED)
       UPDATE "identity" SET "lease_until" = ${DUE_NOW} + $3 * interval '1 millisecond'
       FROM "due" WHERE "identity"."id" = "due"."id"
       RETURNING "identity"."id", "account_id" AS "accountId", "provider", "subject", "issuer",
         "login", "eligibility_status" AS "status", "eligibility_reason" AS "reason",
         "eligibility_checked_at" AS "checkedAt", "eligibility_next_check_at" AS "dueAt",
         GREATEST(extract(epoch FROM "eligibility_next_check_at" - now()) * 1000, 0)::float8
           AS "dueInMs",
         "consecutive_failures" AS "failures", "credentials", "facts", "certificate",
         "lease_until" AS "leaseUntil"`,
      [provider, limit, leaseMs, aheadMs],
    );
    return rows.map(({ status, reason, checkedAt, failures, dueAt, ...row }) => ({
      ...row,
      dueAt: dueAt.getTime(),
      record: { status, reason, checkedAt: checkedAt?.getTime() ?? null, failures },
    }));
  }

  /** Releases leases of identities that were not re-checked: they are due as before. */
  async release(identities: readonly LeasedIdentity[]): Promise<void> {
    await this.database.query(
      `UPDATE "identity" SET "lease_until" = NULL
       FROM unnest($1::uuid[], $2::timestamptz[]) AS "given" ("id", "lease_until")
       WHERE "identity"."id" = "given"."id" AND "identity"."lease_until" = "given"."lease_until"`,
      [identities.map(({ id }) => id), identities.map(({ leaseUntil }) => leaseUntil)],
    );
  }

  /** @throws BrokenSealError when the master secret they were sealed with is gone */
  openCredentials({ accountId, provider, credentials }: LeasedIdentity): string | null {
    return this.sealing.open(accountId, provider, credentials);
  }

  /**
   * Stores rotated credentials under a lease.
   *
   * @returns false when the lease is lost: a newer login or worker knows better
   */
  async saveCredentials(identity: LeasedIdentity, credentials: string): Promise<boolean> {
    const sealed = this.sealing.seal(identity.accountId, identity.provider, credentials);
    const saved = await this.database.query(
      `UPDATE "identity" SET "credentials" = $3 WHERE "id" = $1 AND "lease_until" = $2 RETURNING 1`,
      [identity.id, identity.leaseUntil, sealed],
    );
    return saved.length === 1;
  }

  /**
   * Stores a result and ends the lease. A signal that came during the check keeps the identity due.
   *
   * @returns null when the lease is lost and nothing was stored; else the `seq` of the update to
   *   send, which is null when nothing changed for the account, and whether that one is keyless
   */
  async store(
    identity: LeasedIdentity,
    { record, facts, issuer, event }: RecheckResult,
    now: Date,
  ): Promise<{ seq: number | null; isKeyless: boolean } | null> {
    const parameters = [
      identity.id,
      identity.leaseUntil,
      record.status,
      record.reason,
      record.checkedAt === null ? null : new Date(record.checkedAt),
      new Date(record.nextCheckAt),
      record.failures,
      facts === null ? null : JSON.stringify(facts),
      facts?.login ?? null,
      new Date(identity.dueAt + 1),
      issuer,
    ];
    const [stored] =
      event === null
        ? await this.database.query<Stored>(
            `${STORE} RETURNING NULL AS "seq", false AS "isKeyless"`,
            parameters,
          )
        : await this.database.query<Stored>(STORE_WITH_EVENT, [
            ...parameters,
            now,
            event.kind,
            event.actor,
            event.reason ?? null,
          ]);
    return stored === undefined
      ? null
      : { ...stored, seq: stored.seq === null ? null : Number(stored.seq) };
  }

  /**
   * Makes due the identities of certificates that an authority revoked: those that an identity keeps,
   * and those of live sessions.
   *
   * @param issuerName DER of the authority's name, base64
   * @param serialNumbers lower-case hex without leading zero bytes
   * @returns how many became due; those that are refused already do not
   */
  async makeCertificatesDue(issuerName: string, serialNumbers: readonly string[]): Promise<number> {
    const made = await this.database.query(
      `UPDATE "identity" SET "eligibility_next_check_at" = ${DUE_NOW}
       WHERE "provider" = $1 AND "eligibility_status" <> 'ineligible' AND (${IS_NAMED}
         OR "account_id" IN (
           SELECT "account_id" FROM "session" WHERE "certificate" IS NOT NULL AND ${IS_NAMED}))
       RETURNING 1`,
      [CERTIFICATES, issuerName, serialNumbers],
    );
    return made.length;
  }

  /** Identities of a provider with the last answers, in the order of their ids, after one of them. */
  page(provider: string, after: string | null, limit: number): Promise<AnsweredIdentity[]> {
    return this.database.query<AnsweredIdentity>(
      `SELECT "id", "subject", "eligibility_status" AS "status", "facts", "certificate"
       FROM "identity" WHERE "provider" = $1 AND ($2::uuid IS NULL OR "id" > $2)
       ORDER BY "id" LIMIT $3`,
      [provider, after, limit],
    );
  }

  /** Makes these identities due. @returns how many became due */
  async makeTheseDue(ids: readonly string[]): Promise<number> {
    const made = await this.database.query(
      `UPDATE "identity" SET "eligibility_next_check_at" = ${DUE_NOW}
       WHERE "id" = ANY($1::uuid[]) RETURNING 1`,
      [ids],
    );
    return made.length;
  }

  /** Makes due every identity of a provider. @returns how many became due */
  async makeAllDue(provider: string): Promise<number> {
    const made = await this.database.query(
      `UPDATE "identity" SET "eligibility_next_check_at" = ${DUE_NOW}
       WHERE "provider" = $1 RETURNING 1`,
      [provider],
    );
    return made.length;
  }

  /** @returns how many identities became due: 0 when no account has that one */
  async makeDue(provider: string, subject: string): Promise<number> {
    const made = await this.database.query(
      `UPDATE "identity" SET "eligibility_next_check_at" = ${DUE_NOW}
       WHERE "provider" = $1 AND "subject" = $2 RETURNING 1`,
      [provider, subject],
    );
    return made.length;
  }

  /**
   * Sets the first check time of identities that were linked while nothing was re-checked.
   *
   * @returns whether there may be more of them
   */
  async adopt(providers: readonly string[]): Promise<boolean> {
    const adopted = await this.database.query(
      `UPDATE "identity" SET "eligibility_next_check_at" = ${DUE_NOW} WHERE "id" IN (
         SELECT "id" FROM "identity"
         WHERE "provider" = ANY($1) AND "eligibility_next_check_at" IS NULL
         LIMIT ${ADOPT_BATCH} FOR UPDATE SKIP LOCKED)
       RETURNING 1`,
      [providers],
    );
    return adopted.length === ADOPT_BATCH;
  }

  /** When the identity that waited longest was last answered for; null when there is none. */
  async oldestCheck(providers: readonly string[]): Promise<number | null> {
    const [row] = await this.database.query<{ oldest: Date | null }>(
      `SELECT min("first"."answered_at") AS "oldest" FROM unnest($1::text[]) AS "asked" ("provider")
       CROSS JOIN LATERAL (
         SELECT COALESCE("eligibility_checked_at", "connected_at") AS "answered_at" FROM "identity"
         WHERE "provider" = "asked"."provider" ORDER BY "answered_at" LIMIT 1) AS "first"`,
      [providers],
    );
    return row?.oldest?.getTime() ?? null;
  }
}

const STORE = `
  UPDATE "identity" SET "eligibility_status" = $3, "eligibility_reason" = $4,
    "eligibility_checked_at" = $5,
    "eligibility_next_check_at" = CASE
      WHEN "eligibility_next_check_at" > $10 THEN "eligibility_next_check_at" ELSE $6 END,
    "consecutive_failures" = $7, "facts" = COALESCE($8::jsonb, "facts"),
    "login" = COALESCE($9, "login"), "issuer" = COALESCE($11::text, "issuer"), "lease_until" = NULL
  WHERE "id" = $1 AND "lease_until" = $2`;

const STORE_WITH_EVENT = `
  WITH "stored" AS (${STORE} RETURNING "account_id", "provider"),
  "audited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "reason")
    SELECT $12, $13, $14, "account_id", "provider", $15 FROM "stored"),
  "numbered" AS (
    UPDATE "account" SET "update_seq" = "update_seq" + 1
    FROM "stored" WHERE "account"."id" = "stored"."account_id"
    RETURNING "update_seq", "key_mode")
  SELECT "update_seq" AS "seq", COALESCE("key_mode" = 'keyless', false) AS "isKeyless"
  FROM "stored" LEFT JOIN "numbered" ON true`;

interface Stored {
  readonly seq: string | null;
  readonly isKeyless: boolean;
}

type LeasedRow = Omit<LeasedIdentity, 'record' | 'dueAt'> &
  Omit<EligibilityRecord, 'checkedAt'> & { readonly checkedAt: Date | null; readonly dueAt: Date };
