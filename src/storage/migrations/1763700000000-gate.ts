import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Accounts, their identities and push tokens, and what the device-key login keeps for minutes. */
export class Gate1763700000000 implements MigrationInterface {
  readonly name = 'Gate1763700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "account" (
        "id" uuid CONSTRAINT "account_pkey" PRIMARY KEY,
        "created_at" timestamptz NOT NULL,
        "key_mode" text NOT NULL,
        "public_key" bytea CONSTRAINT "account_public_key_key" UNIQUE,
        "encryption_mode" text NOT NULL,
        "token_epoch" integer NOT NULL DEFAULT 0,
        "disabled_at" timestamptz,
        "update_seq" bigint NOT NULL DEFAULT 0
      )`);
    await runner.query(`
      CREATE TABLE "identity" (
        "id" uuid CONSTRAINT "identity_pkey" PRIMARY KEY,
        "account_id" uuid NOT NULL
          CONSTRAINT "identity_account_fkey" REFERENCES "account" ("id") ON DELETE CASCADE,
        "provider" text NOT NULL,
        "subject" text NOT NULL,
        "login" text,
        "connected_at" timestamptz NOT NULL,
        "eligibility_status" text NOT NULL DEFAULT 'unknown',
        "eligibility_reason" text,
        "eligibility_checked_at" timestamptz,
        "eligibility_next_check_at" timestamptz,
        CONSTRAINT "identity_account_provider_key" UNIQUE ("account_id", "provider"),
        CONSTRAINT "identity_provider_subject_key" UNIQUE ("provider", "subject")
      )`);
    await runner.query(`
      CREATE TABLE "token_revocation" (
        "token_id" uuid CONSTRAINT "token_revocation_pkey" PRIMARY KEY,
        "account_id" uuid NOT NULL
          CONSTRAINT "token_revocation_account_fkey" REFERENCES "account" ("id") ON DELETE CASCADE,
        "expires_at" timestamptz NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE "login_challenge" (
        "challenge" bytea CONSTRAINT "login_challenge_pkey" PRIMARY KEY,
        "expires_at" timestamptz NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE "device_request" (
        "public_key" bytea CONSTRAINT "device_request_pkey" PRIMARY KEY,
        "expires_at" timestamptz NOT NULL,
        "account_id" uuid
          CONSTRAINT "device_request_account_fkey" REFERENCES "account" ("id") ON DELETE CASCADE,
        "response" text
      )`);
    await runner.query(`
      CREATE TABLE "push_token" (
        "id" uuid CONSTRAINT "push_token_pkey" PRIMARY KEY,
        "account_id" uuid NOT NULL
          CONSTRAINT "push_token_account_fkey" REFERENCES "account" ("id") ON DELETE CASCADE,
        "token" text NOT NULL,
        "token_hash" bytea NOT NULL,
        "client_server_url" text,
        "created_at" timestamptz NOT NULL,
        "updated_at" timestamptz NOT NULL,
        CONSTRAINT "push_token_account_token_key" UNIQUE ("account_id", "token_hash")
      )`);
    for (const table of ['token_revocation', 'login_challenge', 'device_request']) {
      await runner.query(`CREATE INDEX "${table}_expires_idx" ON "${table}" ("expires_at")`);
    }
    await runner.query(
      `CREATE INDEX "push_token_account_updated_idx" ON "push_token" ("account_id", "updated_at")`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of [
      'push_token',
      'device_request',
      'login_challenge',
      'token_revocation',
      'identity',
      'account',
    ]) {
      await runner.query(`DROP TABLE "${table}"`);
    }
  }
}
