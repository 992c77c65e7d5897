import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThanOrEqual, MoreThan, type Repository } from 'typeorm';
import type { KeyMode } from '../../policy/operator-policy.js';
import { Database, type Query } from '../database.js';
import { DeviceAuthorizationEntity } from '../entities/device-authorization.entity.js';
import { accountRow } from '../account-row.js';

/** What a new device sends. */
export type NewDevice = Pick<
  DeviceAuthorizationEntity,
  'publicKey' | 'proofHash' | 'clientName' | 'clientPlatform' | 'address'
>;

/** A device that waits for an answer. */
export type WaitingDevice = Pick<DeviceAuthorizationEntity, keyof typeof WAITING>;

/** A request as shown to its own device. */
export type DeviceProgress = Pick<DeviceAuthorizationEntity, 'state' | 'proofHash' | 'polledAt'>;

/** An answer to a request, and where it came from. */
export interface DeviceAnswer {
  readonly id: string;
  readonly accountId: string;
  readonly sessionId: string;
  readonly address: string;
}

export interface AnswerOutcome {
  readonly keyMode: KeyMode;
  readonly isAnswered: boolean;
  /** Before this answer; null when there is no live request. */
  readonly state: DeviceProgress['state'] | null;
}

type ApprovalRow = Pick<
  DeviceAuthorizationEntity,
  'approvedBy' | 'sealed' | 'clientName' | 'clientPlatform' | 'address'
>;

/** An approval that one caller has taken. */
export interface TakenApproval extends Omit<ApprovalRow, 'approvedBy'> {
  readonly accountId: string;
  /** Whether the session that approved is live, and its account is enabled. */
  readonly isGood: boolean;
}

/** Stores an answer to a pending request and its audit event. `$6` is the approval's sealed secret. */
const answer = (audited: string, assignments: string, condition: string): string => `
  WITH "owner" AS (SELECT "key_mode" FROM "account" WHERE "id" = $2),
  "answered" AS (
    UPDATE "device_authorization" SET ${assignments}
    WHERE "id" = $1 AND "state" = 'pending' AND "expires_at" > $4 AND ${condition}
    RETURNING 1),
  "audited" AS (
    INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "session_id", "address")
    SELECT $4, '${audited}', 'user', $2, $3, $5 FROM "answered")
  SELECT "key_mode" AS "keyMode", EXISTS (SELECT FROM "answered") AS "isAnswered",
    (SELECT "state" FROM "device_authorization" WHERE "id" = $1 AND "expires_at" > $4) AS "state"
  FROM "owner"`;

/** A keyed account sends its sealed secret, and a keyless one has none to send. */
const APPROVE = answer(
  'device-approved',
  `"state" = 'approved', "account_id" = $2, "approved_by" = $3, "sealed" = $6::text`,
  `(SELECT "key_mode" FROM "owner") = CASE WHEN $6::text IS NULL THEN 'keyless' ELSE 'keyed' END`,
);
const REFUSE = answer('device-refused', `"state" = 'refused'`, 'TRUE');

const WAITING = {
  id: true,
  publicKey: true,
  clientName: true,
  clientPlatform: true,
  address: true,
  createdAt: true,
} as const;

/** Devices that ask to be added to an account, for the ten minutes that they may wait. */
@Injectable()
export class DeviceAuthorizationRepository {
  constructor(
    private readonly database: Database,
    @InjectRepository(DeviceAuthorizationEntity)
    private readonly devices: Repository<DeviceAuthorizationEntity>,
  ) {}

  /** @returns the id of the request; null when another one has the user code */
  async add(
    userCode: string,
    device: NewDevice,
    createdAt: Date,
    expiresAt: Date,
  ): Promise<string | null> {
    const id = randomUUID();
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

  /** The live request of a user code that was not answered yet. */
  findWaiting(userCode: string, now: Date): Promise<WaitingDevice | null> {
    return this.devices.findOne({
      select: WAITING,
      where: { userCode, state: 'pending', expiresAt: MoreThan(now) },
    });
  }

  /**
   * Approves for an account, with its audit event, by one statement.
   *
   * @param sealed null for keyless accounts, and for no other
   * @throws AppError `token-revoked` when the account is gone
   */
  approve(answer: DeviceAnswer, sealed: string | null, now: Date): Promise<AnswerOutcome> {
    return this.answer(APPROVE, answer, now, [sealed]);
  }

  /** Refuses, with its audit event, by one statement. @throws AppError as {@link approve} */
  refuse(answer: DeviceAnswer, now: Date): Promise<AnswerOutcome> {
    return this.answer(REFUSE, answer, now, []);
  }

  /** A live request, without a lock. */
  progressOf(id: string, now: Date): Promise<DeviceProgress | null> {
    const select = { id: true, state: true, proofHash: true, polledAt: true } as const;
    return this.devices.findOne({ select, where: { id, expiresAt: MoreThan(now) } });
  }

  /**
   * Stores that the device asked, unless it asked after `lastBefore`; of any number of questions at
   * the same moment one is stored.
   */
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
   * Takes an approval, for exactly one caller, and holds what it rests on until the transaction
   * ends: a logout or a revocation at the same moment waits, and then ends the new session too.
   *
   * @returns null when there is none
   */
  async take(query: Query, id: string, now: Date): Promise<TakenApproval | null> {
    // The account first: deleting it locks it before the requests and sessions that go with it.
    const [account] = await query<{ id: string; isDisabled: boolean; epoch: number }>(
      `SELECT "id", "disabled_at" IS NOT NULL AS "isDisabled", "token_epoch" AS "epoch"
       FROM "account" WHERE "id" = (SELECT "account_id" FROM "device_authorization" WHERE "id" = $1)
       FOR SHARE`,
      [id],
    );
    const [taken] = await query<ApprovalRow>(
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
    const alive = await query(
      `SELECT FROM "session" WHERE "id" = $1 AND "account_id" = $2 AND "token_epoch" = $3
         AND "expires_at" > $4 FOR SHARE`,
      [approvedBy, account.id, account.epoch, now],
    );
    const isGood = alive.length > 0 && !account.isDisabled;
    return { ...approval, accountId: account.id, isGood };
  }

  private async answer(
    statement: string,
    { id, accountId, sessionId, address }: DeviceAnswer,
    now: Date,
    more: readonly unknown[],
  ): Promise<AnswerOutcome> {
    const parameters = [id, accountId, sessionId, now, address, ...more];
    const [outcome] = await this.database.query<AnswerOutcome>(statement, parameters);
    return accountRow(outcome);
  }
}
