import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What identities keep for their re-checks, and logins through a provider while under way. */
export class ExternalIdentities1763800000000 implements MigrationInterface {
  readonly name = 'ExternalIdentities1763800000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "identity"
        ADD COLUMN "credentials" bytea,
        ADD COLUMN "facts" jsonb,
        ADD COLUMN "consecutive_failures" integer NOT NULL DEFAULT 0,
        ADD COLUMN "lease_until" timestamptz`);
    await runner.query(
      `CREATE INDEX "identity_next_check_idx" ON "identity" ("provider", "eligibility_next_check_at")`,
    );
    await runner.query(`
      CREATE TABLE "external_flow" (
        "state_hash" bytea CONSTRAINT "external_flow_pkey" PRIMARY KEY,
        "contents" bytea NOT NULL,
        "expires_at" timestamptz NOT NULL
      )`);
    await runner.query(`
      CREATE TABLE "external_pending" (
        "pending_hash" bytea CONSTRAINT "external_pending_pkey" PRIMARY KEY,
        "contents" bytea NOT NULL,
        "expires_at" timestamptz NOT NULL
      )`);
    for (const table of ['external_flow', 'external_pending']) {
      await runner.query(`CREATE INDEX "${table}_expires_idx" ON "${table}" ("expires_at")`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "external_pending"`);
    await runner.query(`DROP TABLE "external_flow"`);
    await runner.query(`DROP INDEX "identity_next_check_idx"`);
    await runner.query(`
      ALTER TABLE "identity"
        DROP COLUMN "lease_until",
        DROP COLUMN "consecutive_failures",
        DROP COLUMN "facts",
        DROP COLUMN "credentials"`);
  }
}
