import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit trail, and the logout tokens that were used. Only adds: older servers run on. */
export class Audit1763900000000 implements MigrationInterface {
  readonly name = 'Audit1763900000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "audit_event" (
        "id" bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT "audit_event_pkey" PRIMARY KEY,
        "at" timestamptz NOT NULL,
        "kind" text NOT NULL,
        "actor" text NOT NULL,
        "account_id" uuid,
        "provider" text,
        "reason" text,
        "count" integer NOT NULL DEFAULT 1
      )`);
    await runner.query(`CREATE INDEX "audit_event_at_idx" ON "audit_event" ("at")`);
    await runner.query(`
      CREATE FUNCTION "audit_event_is_append_only"() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'audit_event is append-only'; END $$`);
    await runner.query(`
      CREATE TRIGGER "audit_event_append_only" BEFORE UPDATE ON "audit_event"
      FOR EACH STATEMENT EXECUTE FUNCTION "audit_event_is_append_only"()`);
    await runner.query(`
      CREATE TABLE "logout_token" (
        "token_hash" bytea CONSTRAINT "logout_token_pkey" PRIMARY KEY,
        "expires_at" timestamptz NOT NULL
      )`);
    await runner.query(`CREATE INDEX "logout_token_expires_idx" ON "logout_token" ("expires_at")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "logout_token"`);
    await runner.query(`DROP TABLE "audit_event"`);
    await runner.query(`DROP FUNCTION "audit_event_is_append_only"()`);
  }
}
