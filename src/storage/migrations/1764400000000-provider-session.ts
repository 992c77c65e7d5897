import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The provider's session that a login was part of, by which a logout token ends it. Only adds. */
export class ProviderSession1764400000000 implements MigrationInterface {
  readonly name = 'ProviderSession1764400000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "session" ADD COLUMN "provider_session" bytea`);
    // Every row is null so far: the index is made in a moment.
    await runner.query(`
      CREATE INDEX "session_provider_session_idx" ON "session" ("provider_session")
      WHERE "provider_session" IS NOT NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "session_provider_session_idx"`);
    await runner.query(`ALTER TABLE "session" DROP COLUMN "provider_session"`);
  }
}
