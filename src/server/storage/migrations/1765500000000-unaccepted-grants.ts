import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the time since which no replica has accepted a grant: replicas of other configurations accept others. */
export class UnacceptedGrants1765500000000 implements MigrationInterface {
  readonly name = 'UnacceptedGrants1765500000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE program_grant ADD COLUMN unaccepted_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE program_grant DROP COLUMN unaccepted_at');
  }
}
