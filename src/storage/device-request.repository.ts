import { Injectable } from '@nestjs/common';
import { FOR_LOGIN, type AccountForLogin } from './account.repository.js';
import { Database } from './database.js';

export interface AnsweredDeviceRequest {
  readonly account: AccountForLogin;
  readonly response: string;
}

@Injectable()
export class DeviceRequestRepository {
  constructor(private readonly database: Database) {}

  /**
   * By one statement: an answer that is taken but not handed out would be lost.
   *
   * @returns the answer, to exactly one caller; null while nobody has answered
   */
  async takeAnswer(publicKey: Buffer, now: Date): Promise<AnsweredDeviceRequest | null> {
    const [answered] = await this.database.query<AnsweredRow>(
      `WITH "taken" AS (
         DELETE FROM "device_request" WHERE "public_key" = $1 AND "response" IS NOT NULL
         RETURNING "account_id", "response", "expires_at")
       SELECT ${FOR_LOGIN}, "response", "expires_at" AS "expiresAt"
       FROM "taken" JOIN "account" ON "account"."id" = "account_id"`,
      [publicKey],
    );
    if (answered === undefined || answered.expiresAt <= now) {
      return null;
    }
    const { id, tokenEpoch, isDisabled, response } = answered;
    return { account: { id, tokenEpoch, isDisabled }, response };
  }

  /**
   * Opens the request, or keeps the one that is open.
   *
   * @returns when it ends
   */
  async open(publicKey: Buffer, expiresAt: Date, now: Date): Promise<Date> {
    const [row] = await this.database.query<{ expiresAt: Date }>(
      `INSERT INTO "device_request" ("public_key", "expires_at") VALUES ($1, $2)
       ON CONFLICT ("public_key") DO UPDATE SET
         "expires_at" = CASE WHEN "device_request"."expires_at" > $3
           THEN "device_request"."expires_at" ELSE EXCLUDED."expires_at" END,
         "account_id" = CASE WHEN "device_request"."expires_at" > $3
           THEN "device_request"."account_id" END,
         "response" = CASE WHEN "device_request"."expires_at" > $3
           THEN "device_request"."response" END
       RETURNING "expires_at" AS "expiresAt"`,
      [publicKey, expiresAt, now],
    );
    return row?.expiresAt ?? expiresAt;
  }

  /** @returns false when no live, unanswered request has that key */
  async answer(
    publicKey: Buffer,
    accountId: string,
    response: string,
    now: Date,
  ): Promise<boolean> {
    const answered = await this.database.query(
      `UPDATE "device_request" SET "account_id" = $2, "response" = $3
       WHERE "public_key" = $1 AND "expires_at" > $4 AND "response" IS NULL
       RETURNING "public_key"`,
      [publicKey, accountId, response, now],
    );
    return answered.length > 0;
  }
}

interface AnsweredRow extends AccountForLogin {
  readonly response: string;
  readonly expiresAt: Date;
}
