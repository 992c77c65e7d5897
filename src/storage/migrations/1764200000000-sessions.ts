import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Sessions, the devices that ask to be added, and where audited logins came from. Only adds:
 * `token_revocation` and `device_request` stay for servers of the version before, until a later
 * migration drops them.
 */
export class Sessions1764200000000 implements MigrationInterface {
  readonly name = 'Sessions1764200000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "session" (
        "id" uuid CONSTRAINT "session_pkey" PRIMARY KEY,
        "account_id" uuid NOT NULL
          CONSTRAINT "session_account_fkey" REFERENCES "account" ("id") ON DELETE CASCADE,
        "token_epoch" integer NOT NULL,
        "created_at" timestamptz NOT NULL,
        "last_seen_at" timestamptz NOT NULL,
        "expires_at" timestamptz NOT NULL,
        "method" text NOT NULL,
        "client_name" text,
        "client_platform" text,
        "address" text
      ) WITH (fillfactor = 90)`);
    await runner.query(`CREATE INDEX "session_account_idx" ON "session" ("account_id")`);
    await runner.query(`
      CREATE TABLE "device_authorization" (
        "id" uuid CONSTRAINT "device_authorization_pkey" PRIMARY KEY,
        "user_code" text NOT NULL CONSTRAINT "device_authorization_user_code_key" UNIQUE,
        "public_key" bytea NOT NULL,
        "proof_hash" bytea NOT NULL,
        "client_name" text,
        "client_platform" text,
        "address" text,
        "created_at" timestamptz NOT NULL,
        "expires_at" timestamptz NOT NULL,
        "polled_at" timestamptz,
        "state" text NOT NULL DEFAULT 'pending',
        "account_id" uuid CONSTRAINT "device_authorization_account_fkey"
          REFERENCES "account" ("id") ON DELETE CASCADE,
        "approved_by" uuid,
        "sealed" text
      )`);
    for (const table of ['session', 'device_authorization']) {
      await runner.query(`CREATE INDEX "${table}_expires_idx" ON "${table}" ("expires_at")`);
    }
    await runner.query(
      `ALTER TABLE "audit_event" ADD COLUMN "session_id" uuid, ADD COLUMN "address" text`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "audit_event" DROP COLUMN "address", DROP COLUMN "session_id"`);
    await runner.query(`DROP TABLE "device_authorization"`);
    await runner.query(`DROP TABLE "session"`);
  }
}
