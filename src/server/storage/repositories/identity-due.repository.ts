import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, type FindOptionsWhere, type Repository } from 'typeorm';
import type { AuditEvent } from '../../../core/policy/audit-event.js';
import { CERTIFICATES } from '../../../core/policy/admission/admission.js';
import type { CertificateRecord } from '../../../core/policy/certificate/certificate-record.js';
import type {
  EligibilityFacts,
  EligibilityStatus,
} from '../../../core/policy/eligibility/eligibility.js';
import type {
  EligibilityRecord,
  ScheduledRecord,
} from '../../../core/policy/eligibility/offboarding.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../database.service.js';
import { IdentityEntity } from '../entities/identity.entity.js';
import { IdentityCredentialsService } from '../sealing/identity-credentials.service.js';
import { keepSignOut, lockSignOuts, waitingFor } from './signals/waiting-sign-outs.js';

/** An identity that only this process may re-check, until its lease ends. */
export interface LeasedIdentity extends Readonly<Pick<IdentityEntity, LeasedColumn>> {
  readonly record: EligibilityRecord;
  readonly dueAt: number;
  /** Milliseconds until `dueAt` by the database's clock; 0 = it is due. */
  readonly dueInMs: number;
  /** Identifies this lease: a worker with an older one can store nothing. */
  readonly leaseUntil: Date;
}

type LeasedColumn =
  | ('id' | 'accountId' | 'provider' | 'subject' | 'issuer' | 'login')
  | ('credentials' | 'facts' | 'certificate');

export interface AnsweredIdentity extends Pick<LeasedIdentity, 'id' | 'subject' | 'facts'> {
  readonly status: EligibilityStatus;
  readonly certificate: CertificateRecord | null;
}

export interface RecheckResult {
  readonly record: ScheduledRecord;
  /** The provider's answer; null keeps the stored one. */
  readonly facts: EligibilityFacts | null;
  /** The issuer of the subject; null keeps the stored one. */
  readonly issuer: string | null;
  /** Stored together with the result; null when nothing changed for the account. */
  readonly event: AuditEvent | null;
}

/** A result that was stored. */
export interface StoredResult {
  /** The number of the update to send; null when nothing changed for the account. */
  readonly seq: number | null;
  readonly isKeyless: boolean;
}

const ADOPT_BATCH = 1000;
/** More in one statement would exceed its time-out, and keep logins waiting for the rows. */
const MARKED_AT_ONCE = 5000;
const NO_ID = '00000000-0000-0000-0000-000000000000';
/** Truncated, because the driver's Date has no microseconds. */
export const DUE_NOW = `date_trunc('milliseconds', now())`;

/** The certificate of a row and the authorities of its path, each as a `RevocationReference`. */
const PATH = `(SELECT "certificate" -> 'reference' AS "one"
  UNION ALL SELECT jsonb_array_elements("certificate" #> '{reference,issuers}')) AS "path"`;

const IS_NAMED = `EXISTS (SELECT 1 FROM ${PATH}
  WHERE "one" ->> 'issuerName' = $3 AND $4::jsonb ? ("one" ->> 'serialNumber'))`;

const MAX_KEYS = 8;

/** The queue of re-checks. Leases use the database's clock, as those of replicas may differ. */
@Injectable()
export class IdentityDueRepository {
  constructor(
    private readonly database: DatabaseService,
    private readonly sealing: IdentityCredentialsService,
    @InjectRepository(IdentityEntity) private readonly identities: Repository<IdentityEntity>,
  ) {}

  /** Leases up to `limit` identities of a provider. @param aheadMs includes those due within it */
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

  async release(identities: readonly LeasedIdentity[]): Promise<void> {
    await this.database.query(
      `UPDATE "identity" SET "lease_until" = NULL
       FROM unnest($1::uuid[], $2::timestamptz[]) AS "leased" ("id", "lease_until")
       WHERE "identity"."id" = "leased"."id" AND "identity"."lease_until" = "leased"."lease_until"`,
      [identities.map(({ id }) => id), identities.map(({ leaseUntil }) => leaseUntil)],
    );
  }

  /** @throws BrokenSealError when the master secret that sealed them is missing */
  openCredentials({ accountId, provider, credentials }: LeasedIdentity): string | null {
    return this.sealing.open(accountId, provider, credentials);
  }

  /**
   * Stores rotated credentials.
   * @returns false when the lease is lost to a newer login or worker
   */
  async saveCredentials(identity: LeasedIdentity, credentials: string): Promise<boolean> {
    const sealed = this.sealing.seal(identity.accountId, identity.provider, credentials);
    const { id, leaseUntil } = identity;
    const { affected } = await this.identities.update({ id, leaseUntil }, { credentials: sealed });
    return affected === 1;
  }

  /**
   * Stores a result and ends the lease. A signal that arrived meanwhile keeps the identity due.
   * @returns null when the lease is lost
   */
  async store(
    identity: LeasedIdentity,
    { record, facts, issuer, event }: RecheckResult,
    now: Date,
    runner: SqlRunner = this.database,
  ): Promise<StoredResult | null> {
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
      record.nextCheckAt - now.getTime(),
    ];
    const [stored] =
      event === null
        ? await runner.query<Stored>(
            `${STORE} RETURNING NULL AS "seq", false AS "isKeyless"`,
            parameters,
          )
        : await runner.query<Stored>(STORE_WITH_EVENT, [
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
   * Keys of an authority, of the paths by which identities were accepted, as base64 DER.
   * @param issuerName DER of the authority's name, base64
   * @param anchorKeys SHA-256 of the trusted authorities' public keys, hex
   */
  issuerKeys(
    issuerName: string,
    anchorKeys: readonly string[],
  ): Promise<{ readonly key: string; readonly signsLists: boolean }[]> {
    return this.database.query<{ key: string; signsLists: boolean }>(
      `SELECT DISTINCT "one" ->> 'issuerKey' AS "key",
         COALESCE("one" ->> 'issuerSignsLists', 'true') = 'true' AS "signsLists"
       FROM "identity", LATERAL ${PATH}
       WHERE "provider" = $1 AND "one" ->> 'issuerName' = $2 AND "one" ->> 'issuerKey' IS NOT NULL
         AND COALESCE("certificate" #>> '{reference,anchorKey}' = ANY($3::text[]), true)
       LIMIT ${MAX_KEYS}`,
      [CERTIFICATES, issuerName, anchorKeys],
    );
  }

  /**
   * Makes due the identities, kept or of live sessions, of certificates that an authority revoked
   * or that are below a revoked authority.
   * @param issuerName DER of the authority's name, base64
   * @param serialNumbers lower-case hex without leading zero bytes
   * @returns the number of identities that became due, without those already refused
   */
  makeCertificatesDue(issuerName: string, serialNumbers: readonly string[]): Promise<number> {
    // PostgreSQL finds a key of an object by a binary search. Lists may have 10,000 of them.
    const serials = JSON.stringify(Object.fromEntries(serialNumbers.map((one) => [one, true])));
    return this.makePagesDue(CERTIFICATES, isOfCertificate(IS_NAMED), [issuerName, serials]);
  }

  /**
   * Makes due the identities, kept or of live sessions, of certificates whose authority is none of these.
   * @param anchorKeys SHA-256 of the trusted authorities' public keys, hex
   * @returns the number of identities that became due, without those already refused
   */
  makeUntrustedDue(anchorKeys: readonly string[]): Promise<number> {
    const isUntrusted = `"certificate" #>> '{reference,anchorKey}' <> ALL($3::text[])`;
    return this.makePagesDue(CERTIFICATES, isOfCertificate(isUntrusted), [anchorKeys]);
  }

  /** Returns identities with their last answers, by their ids, after `after`. */
  page(provider: string, after: string | null, limit: number): Promise<AnsweredIdentity[]> {
    return this.database.query<AnsweredIdentity>(
      `SELECT "id", "subject", "eligibility_status" AS "status", "facts", "certificate"
       FROM "identity" WHERE "provider" = $1 AND ($2::uuid IS NULL OR "id" > $2)
       ORDER BY "id" LIMIT $3`,
      [provider, after, limit],
    );
  }

  /** @returns the number of identities that became due */
  makeTheseDue(ids: readonly string[]): Promise<number> {
    return makeIdentitiesDue(this.identities, { id: In(ids) });
  }

  /** @returns the number of identities that became due */
  makeAllDue(provider: string): Promise<number> {
    return this.makePagesDue(provider, 'true', []);
  }

  /**
   * Also for a login that is being finished.
   * @returns the number of identities that became due: 0 when no account has this one
   */
  makeDue(provider: string, subject: string, now: Date): Promise<number> {
    return this.database.transaction(async (tx) => {
      await lockSignOuts(tx, provider, [{ subject }]);
      await keepSignOut(tx, provider, waitingFor('recheck', [{ subject }]), now, now);
      return makeIdentitiesDue(tx, { provider, subject });
    });
  }

  /**
   * Each page is a statement of its own, so that its time does not grow with the number of identities.
   * @param condition SQL of an identity
   * @param parameters of the condition, from `$3`
   */
  private async makePagesDue(
    provider: string,
    condition: string,
    parameters: readonly unknown[],
  ): Promise<number> {
    const sql = `
      WITH "page" AS (
        SELECT "id" FROM "identity" WHERE "provider" = $1 AND "id" > $2
        ORDER BY "id" LIMIT ${MARKED_AT_ONCE}),
      "due_identity" AS (
        UPDATE "identity" SET "eligibility_next_check_at" = ${DUE_NOW}
        WHERE "id" IN (SELECT "id" FROM "page") AND (${condition}) RETURNING 1)
      SELECT (SELECT count(*)::int FROM "due_identity") AS "due",
        (SELECT "id" FROM "page" ORDER BY "id" OFFSET ${MARKED_AT_ONCE - 1}) AS "last"`;
    let made = 0;
    let after: string | null = NO_ID;
    while (after !== null) {
      type Page = { readonly due: number; readonly last: string | null };
      const page: Page[] = await this.database.query<Page>(sql, [provider, after, ...parameters]);
      made += page[0]?.due ?? 0;
      after = page[0]?.last ?? null;
    }
    return made;
  }

  /**
   * Sets the first check time of identities linked while re-checks were disabled.
   * @returns true if there may be more of them
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

  async oldestCheck(providers: readonly string[]): Promise<number | null> {
    const [row] = await this.database.query<{ oldest: Date | null }>(
      `SELECT min("oldest_identity"."answered_at") AS "oldest" FROM unnest($1::text[]) AS "provider_list" ("provider")
       CROSS JOIN LATERAL (
         SELECT COALESCE("eligibility_checked_at", "connected_at") AS "answered_at" FROM "identity"
         WHERE "provider" = "provider_list"."provider" ORDER BY "answered_at" LIMIT 1) AS "oldest_identity"`,
      [providers],
    );
    return row?.oldest?.getTime() ?? null;
  }
}

/** SQL of an identity that is not refused, and whose certificate, kept or of a live session, meets the condition. */
function isOfCertificate(condition: string): string {
  return `"eligibility_status" <> 'ineligible' AND (${condition} OR EXISTS (
    SELECT FROM "session" WHERE "session"."account_id" = "identity"."account_id" AND ${condition}))`;
}

/** @returns the number of identities that became due */
export async function makeIdentitiesDue(
  { manager }: Pick<Transaction, 'manager'>,
  which: FindOptionsWhere<IdentityEntity>,
): Promise<number> {
  const due = { eligibilityNextCheckAt: () => DUE_NOW };
  const { affected = 0 } = await manager.update(IdentityEntity, which, due);
  return affected;
}

/**
 * Facts by which directories and security events name the person. An answer without them does not change
 * them: few providers repeat all claims when tokens are renewed.
 */
const KEPT_NAMES = `
  CASE WHEN $8::jsonb ->> 'email' IS NULL AND "facts" ->> 'email' IS NOT NULL
    THEN jsonb_build_object('email', "facts" -> 'email', 'emailVerified', "facts" -> 'emailVerified')
    ELSE '{}' END
  || CASE WHEN $8::jsonb ->> 'oid' IS NULL AND "facts" ->> 'oid' IS NOT NULL
    THEN jsonb_build_object('oid', "facts" -> 'oid') ELSE '{}' END`;

/** The wait counts by the clock of the database, too: that of this replica may be ahead. */
const STORE = `
  UPDATE "identity" SET "eligibility_status" = $3, "eligibility_reason" = $4,
    "eligibility_checked_at" = $5,
    "eligibility_next_check_at" = CASE
      WHEN "eligibility_next_check_at" > $10 THEN "eligibility_next_check_at"
      ELSE date_trunc('milliseconds',
        LEAST($6::timestamptz, now() + $12 * interval '1 millisecond')) END,
    "consecutive_failures" = $7, "facts" = COALESCE($8::jsonb || ${KEPT_NAMES}, "facts"),
    "login" = COALESCE($9, "login"), "issuer" = COALESCE($11::text, "issuer"), "lease_until" = NULL
  WHERE "id" = $1 AND "lease_until" = $2`;

const STORE_WITH_EVENT = `
  WITH "stored" AS (${STORE} RETURNING "account_id", "provider"),
  "audited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "reason")
    SELECT $13, $14, $15, "account_id", "provider", $16 FROM "stored"),
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
