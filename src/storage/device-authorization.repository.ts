import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { KeyMode } from '../policy/storage-policy.js';
import { Database, type Query } from './database.js';

/** What a new device says of itself. */
export interface NewDevice {
  /** Raw X25519 key. */
  readonly publicKey: Buffer;
  /** SHA-256 of the secret that takes the token. */
  readonly proofHash: Buffer;
  readonly clientName: string | null;
  readonly clientPlatform: string | null;
  readonly address: string;
}

/** A device that waits for an answer. */
export interface WaitingDevice extends Omit<NewDevice, 'proofHash'> {
  readonly id: string;
  readonly createdAt: Date;
}

export type DeviceState = 'pending' | 'approved' | 'refused';

/** A request as its own device may know it. */
export interface DeviceProgress {
  readonly state: DeviceState;
  readonly proofHash: Buffer;
  readonly polledAt: Date | null;
}

/** Who answers a request, and from where. */
export interface DeviceAnswer {
  readonly id: string;
  readonly accountId: string;
  readonly sessionId: string;
  readonly address: string;
}

export interface AnswerOutcome {
  /** null when the account is gone. */
  readonly keyMode: KeyMode | null;
  readonly isAnswered: boolean;
  /** Before this answer; null when there is no live request. */
  readonly state: DeviceState | null;
}

/** An approval that one caller has taken. */
export interface TakenApproval {
  readonly accountId: string;
  /** Whether the session that approved goes on, and its account is enabled. */
  readonly isGood: boolean;
  readonly sealed: string | null;
  readonly clientName: string | null;
  readonly clientPlatform: string | null;
  readonly address: string;
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
  SELECT (SELECT "key_mode" FROM "owner") AS "keyMode",
    EXISTS (SELECT FROM "answered") AS "isAnswered",
    (SELECT "state" FROM "device_authorization" WHERE "id" = $1 AND "expires_at" > $4) AS "state"`;

/** A keyed account sends its sealed secret, and a keyless one has none to send. */
const APPROVE = answer(
  'device-approved',
  `"state" = 'approved', "account_id" = $2, "approved_by" = $3, "sealed" = $6::text`,
  `(SELECT "key_mode" FROM "owner") = CASE WHEN $6::text IS NULL THEN 'keyless' ELSE 'keyed' END`,
);
const REFUSE = answer('device-refused', `"state" = 'refused'`, 'TRUE');

/** Devices that ask to be added to an account, for the ten minutes that they may wait. */
@Injectable()
export class DeviceAuthorizationRepository {
  constructor(private readonly database: Database) {}

  /** @returns the id of the request; null when another one has the user code */
  async add(
    userCode: string,
    device: NewDevice,
    createdAt: Date,
    expiresAt: Date,
  ): Promise<string | null> {
    const [added] = await this.database.query<{ id: string }>(
      `INSERT INTO "device_authorization" ("id", "user_code", "public_key", "proof_hash",
         "client_name", "client_platform", "address", "created_at", "expires_at")
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT ("user_code") DO NOTHING RETURNING "id"`,
      [
        randomUUID(),
        userCode,
        device.publicKey,
        device.proofHash,
        device.clientName,
        device.clientPlatform,
        device.address,
        createdAt,
        expiresAt,
      ],
    );
    return added?.id ?? null;
  }

  /** The live request of a user code that was not answered yet. */
  async findWaiting(userCode: string, now: Date): Promise<WaitingDevice | null> {
    const [found] = await this.database.query<WaitingDevice>(
      `SELECT "id", "public_key" AS "publicKey", "client_name" AS "clientName",
         "client_platform" AS "clientPlatform", "address", "created_at" AS "createdAt"
       FROM "device_authorization"
       WHERE "user_code" = $1 AND "state" = 'pending' AND "expires_at" > $2`,
      [userCode, now],
    );
    return found ?? null;
  }

  /**
   * Approves for an account, with its audit event, by one statement.
   *
   * @param sealed null for keyless accounts, and for no other
   */
  approve(answer: DeviceAnswer, sealed: string | null, now: Date): Promise<AnswerOutcome> {
    return this.answer(APPROVE, answer, now, [sealed]);
  }

  /** Refuses, with its audit event, by one statement. */
  refuse(answer: DeviceAnswer, now: Date): Promise<AnswerOutcome> {
    return this.answer(REFUSE, answer, now, []);
  }

  /** A live request, without a lock. */
  async progressOf(id: string, now: Date): Promise<DeviceProgress | null> {
    const [found] = await this.database.query<DeviceProgress>(
      `SELECT "state", "proof_hash" AS "proofHash", "polled_at" AS "polledAt"
       FROM "device_authorization" WHERE "id" = $1 AND "expires_at" > $2`,
      [id, now],
    );
    return found ?? null;
  }

  /**
   * Notes that the device asked, unless it asked after `lastBefore`; of any number of questions at
   * the same moment one is noted.
   */
  async notePoll(id: string, now: Date, lastBefore: Date): Promise<boolean> {
    const noted = await this.database.query(
      `UPDATE "device_authorization" SET "polled_at" = $2
       WHERE "id" = $1 AND ("polled_at" IS NULL OR "polled_at" <= $3) RETURNING 1`,
      [id, now, lastBefore],
    );
    return noted.length > 0;
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
    return outcome ?? { keyMode: null, isAnswered: false, state: null };
  }
}

interface ApprovalRow extends Omit<TakenApproval, 'accountId' | 'isGood'> {
  readonly approvedBy: string;
}
