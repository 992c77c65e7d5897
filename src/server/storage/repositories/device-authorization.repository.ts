import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThanOrEqual, MoreThan, type Repository } from 'typeorm';
import { Random } from '../../../common/runtime/random.js';
import { USER_CODE_MISSES } from '../../../core/policy/flow/code-limits.js';
import { DatabaseService, type SqlRunner, type Transaction } from '../database.service.js';
import { DeviceAuthorizationEntity } from '../entities/device-authorization.entity.js';
import { DeviceLookupMissEntity } from '../entities/device-lookup-miss.entity.js';
import { accountRow } from '../account-row.js';
import { AUTHENTICATED_AT, AUTHENTICATED_BY, type VouchingSession } from './session.repository.js';

export type NewDevice = Pick<
  DeviceAuthorizationEntity,
  'publicKey' | 'proofHash' | 'clientName' | 'clientPlatform' | 'address'
>;

type Guesser = Pick<DeviceLookupMissEntity, 'accountId' | 'addressGroup'>;

/** Any number that no other advisory lock has as its seed. */
const LOOK_UPS = 8628;

/** Time until which the misses of the account `$1` or of the address group `$2` refuse look-ups. */
const REFUSED_UNTIL = `
  SELECT max("expires_at") AS "until" FROM (
    (SELECT "expires_at" FROM "device_lookup_miss" WHERE "account_id" = $1 AND "expires_at" > $3
      ORDER BY "expires_at" DESC OFFSET $4 LIMIT 1)
    UNION ALL
    (SELECT "expires_at" FROM "device_lookup_miss" WHERE "address_group" = $2
      AND "expires_at" > $3 ORDER BY "expires_at" DESC OFFSET $5 LIMIT 1)) AS "limit_end"`;

export type WaitingDevice = Pick<DeviceAuthorizationEntity, keyof typeof WAITING>;

type DeviceProgress = Pick<DeviceAuthorizationEntity, 'state' | 'proofHash' | 'polledAt'>;

interface DeviceAnswer {
  readonly id: string;
  readonly accountId: string;
  readonly sessionId: string;
  readonly address: string;
}

export interface AnswerOutcome {
  readonly isAnswered: boolean;
  /** State before this answer; null when there is no live request. */
  readonly state: DeviceProgress['state'] | null;
}

type ApprovalRow = Pick<
  DeviceAuthorizationEntity,
  'approvedBy' | 'sealed' | 'clientName' | 'clientPlatform' | 'address'
>;

export interface TakenApproval extends Omit<ApprovalRow, 'approvedBy'> {
  readonly accountId: string;
  /** The session that approved; null = it has ended, or its account is disabled. */
  readonly voucher: VouchingSession | null;
}

interface VoucherRow extends Omit<VouchingSession, 'inherited'> {
  readonly authenticatedAt: Date;
  readonly authenticatedBy: string;
}

/** Holds a live session and reads what it passes on. */
const VOUCHER = `
  SELECT "expires_at" AS "expiresAt", "provider_session" AS "providerSession", "certificate",
    ${AUTHENTICATED_AT} AS "authenticatedAt", ${AUTHENTICATED_BY} AS "authenticatedBy"
  FROM "session" WHERE "id" = $1 AND "account_id" = $2 AND "token_epoch" = $3
    AND "expires_at" > $4 FOR SHARE`;

/** Stores an answer to a pending request and its audit event. `$6` is the sealed account of an approval. */
const answer = (audited: string, assignments: string): string => `
  WITH "answered" AS (
    UPDATE "device_authorization" SET ${assignments}
    WHERE "id" = $1 AND "state" = 'pending' AND "expires_at" > $4
      AND EXISTS (SELECT FROM "account" WHERE "id" = $2)
    RETURNING 1),
  "audited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "session_id", "address")
    SELECT $4, '${audited}', 'user', $2, $3, $5 FROM "answered")
  SELECT EXISTS (SELECT FROM "answered") AS "isAnswered",
    (SELECT "state" FROM "device_authorization" WHERE "id" = $1 AND "expires_at" > $4) AS "state"
  FROM "account" WHERE "id" = $2`;

const APPROVE = answer(
  'device-approved',
  `"state" = 'approved', "account_id" = $2, "approved_by" = $3, "sealed" = $6`,
);
const REFUSE = answer('device-refused', `"state" = 'refused'`);

const WAITING = {
  id: true,
  publicKey: true,
  clientName: true,
  clientPlatform: true,
  address: true,
  createdAt: true,
} as const;

/** Devices that ask to join an account. Each request is valid for ten minutes. */
@Injectable()
export class DeviceAuthorizationRepository {
  constructor(
    private readonly database: DatabaseService,
    @InjectRepository(DeviceAuthorizationEntity)
    private readonly devices: Repository<DeviceAuthorizationEntity>,
    private readonly random: Random,
  ) {}

  /** @returns the id of the request; null when another request has the user code */
  async add(
    userCode: string,
    device: NewDevice,
    createdAt: Date,
    expiresAt: Date,
  ): Promise<string | null> {
    const id = this.random.uuid();
    const added = await this.devices
      .createQueryBuilder()
      .insert()
      .values({ ...device, id, userCode, createdAt, expiresAt })
      .orIgnore()
      .returning('id')
      .updateEntity(false)
      .execute();
    return (added.raw as unknown[]).length === 0 ? null : id;
  }

  /**
   * Finds the pending request of a user code. Misses are stored until `missUntil`. Look-ups of one
   * account, and of one address group, run in turn, so that they cannot exceed the limit.
   * @returns null for a miss; a date, until which look-ups are refused
   */
  findWaiting(
    userCode: string,
    { accountId, addressGroup }: Guesser,
    now: Date,
    missUntil: Date,
  ): Promise<WaitingDevice | Date | null> {
    return this.database.transaction(async (tx) => {
      for (const guesser of [accountId, addressGroup]) {
        await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended($1, ${LOOK_UPS}))`, [
          guesser,
        ]);
      }
      const [row] = await tx.query<{ until: Date | null }>(REFUSED_UNTIL, [
        accountId,
        addressGroup,
        now,
        USER_CODE_MISSES.perAccount - 1,
        USER_CODE_MISSES.perAddress - 1,
      ]);
      if (row !== undefined && row.until !== null) {
        return row.until;
      }
      const where = { userCode, state: 'pending', expiresAt: MoreThan(now) } as const;
      const options = { select: WAITING, where };
      const found = await tx.manager.findOne(DeviceAuthorizationEntity, options);
      if (found === null) {
        const miss = { id: this.random.uuid(), accountId, addressGroup, expiresAt: missUntil };
        await tx.manager.insert(DeviceLookupMissEntity, miss);
      }
      return found;
    });
  }

  /**
   * Approves by one statement of the caller's transaction, with its audit event.
   * @throws AppError `token-revoked` when the account is deleted
   */
  approve(
    tx: Transaction,
    answer: DeviceAnswer,
    sealed: string,
    now: Date,
  ): Promise<AnswerOutcome> {
    return store(tx, APPROVE, answer, now, [sealed]);
  }

  /** Refuses, with its audit event, by one statement. @throws AppError as {@link approve} */
  refuse(answer: DeviceAnswer, now: Date): Promise<AnswerOutcome> {
    return store(this.database, REFUSE, answer, now, []);
  }

  progressOf(id: string, now: Date): Promise<DeviceProgress | null> {
    const select = { id: true, state: true, proofHash: true, polledAt: true } as const;
    return this.devices.findOne({ select, where: { id, expiresAt: MoreThan(now) } });
  }

  /** Stores the time of one poll, unless the device polled after `lastBefore`. */
  async notePoll(id: string, now: Date, lastBefore: Date): Promise<boolean> {
    const { affected } = await this.devices.update(
      [
        { id, polledAt: IsNull() },
        { id, polledAt: LessThanOrEqual(lastBefore) },
      ],
      { polledAt: now },
    );
    return affected === 1;
  }

  /**
   * Takes an approval, for exactly one caller, and locks its account and the approving session. A
   * statement that ends sessions locks the account first: it also ends the new session.
   * @returns null when there is none
   */
  async take(tx: Transaction, id: string, now: Date): Promise<TakenApproval | null> {
    // The account is locked first: a deletion locks it before its requests and sessions.
    const [account] = await tx.query<{ id: string; isDisabled: boolean; epoch: number }>(
      `SELECT "id", "disabled_at" IS NOT NULL AS "isDisabled", "token_epoch" AS "epoch"
       FROM "account" WHERE "id" = (SELECT "account_id" FROM "device_authorization" WHERE "id" = $1)
       FOR SHARE`,
      [id],
    );
    const [taken] = await tx.query<ApprovalRow>(
      `DELETE FROM "device_authorization"
       WHERE "id" = $1 AND "state" = 'approved' AND "expires_at" > $2 AND "account_id" = $3
       RETURNING "approved_by" AS "approvedBy", "sealed", "client_name" AS "clientName",
         "client_platform" AS "clientPlatform", "address"`,
      [id, now, account?.id ?? null],
    );
    if (account === undefined || taken === undefined) {
      return null;
    }
    const { approvedBy, ...approval } = taken;
    const parameters = [approvedBy, account.id, account.epoch, now];
    const [row] = await tx.query<VoucherRow>(VOUCHER, parameters);
    const voucher = row === undefined || account.isDisabled ? null : toVoucher(row);
    return { ...approval, accountId: account.id, voucher };
  }
}

async function store(
  runner: SqlRunner,
  statement: string,
  { id, accountId, sessionId, address }: DeviceAnswer,
  now: Date,
  more: readonly unknown[],
): Promise<AnswerOutcome> {
  const parameters = [id, accountId, sessionId, now, address, ...more];
  const [outcome] = await runner.query<AnswerOutcome>(statement, parameters);
  return accountRow(outcome);
}

function toVoucher({
  authenticatedAt,
  authenticatedBy: method,
  ...row
}: VoucherRow): VouchingSession {
  return { ...row, inherited: { authenticatedAt, method } };
}
