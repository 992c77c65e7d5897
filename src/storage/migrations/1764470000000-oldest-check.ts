import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Finds the oldest answer of a provider, however many identities it has. Built beside logins. */
export class OldestCheck1764470000000 implements MigrationInterface {
  readonly name = 'OldestCheck1764470000000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // One that was interrupted leaves an index that is not used.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS "identity_answered_idx"`);
    await runner.query(
      `CREATE INDEX CONCURRENTLY "identity_answered_idx"
       ON "identity" ("provider", (COALESCE("eligibility_checked_at", "connected_at")))`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX IF EXISTS "identity_answered_idx"`);
  }
}
