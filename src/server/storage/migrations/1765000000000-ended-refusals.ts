import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the end of a directory's refusal of a person who has no identity yet. */
export class EndedRefusals1765000000000 implements MigrationInterface {
  readonly name = 'EndedRefusals1765000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE directory_person ADD COLUMN refusal_ended_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE directory_person DROP COLUMN refusal_ended_at');
  }
}
