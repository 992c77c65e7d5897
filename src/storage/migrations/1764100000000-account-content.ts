import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What an account stores: its settings and its credentials. Only adds: older servers run on. */
export class AccountContent1764100000000 implements MigrationInterface {
  readonly name = 'AccountContent1764100000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "account"
        ADD COLUMN "encryption_mode_changed_at" timestamptz,
        ADD COLUMN "settings_form" text,
        ADD COLUMN "settings_content" bytea,
        ADD COLUMN "settings_version" integer NOT NULL DEFAULT 0`);
    await runner.query(`
      CREATE TABLE "account_credential" (
        "account_id" uuid NOT NULL
          CONSTRAINT "account_credential_account_fkey" REFERENCES "account" ("id") ON DELETE CASCADE,
        "service" text NOT NULL,
        "form" text NOT NULL,
        "content" bytea NOT NULL,
        "updated_at" timestamptz NOT NULL,
        CONSTRAINT "account_credential_pkey" PRIMARY KEY ("account_id", "service")
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "account_credential"`);
    await runner.query(`
      ALTER TABLE "account"
        DROP COLUMN "settings_version",
        DROP COLUMN "settings_content",
        DROP COLUMN "settings_form",
        DROP COLUMN "encryption_mode_changed_at"`);
  }
}
