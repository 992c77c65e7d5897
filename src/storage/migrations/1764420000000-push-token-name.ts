import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a device that gets notifications says of itself, for its owner to recognise. */
export class PushTokenName1764420000000 implements MigrationInterface {
  readonly name = 'PushTokenName1764420000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "push_token" ADD COLUMN "name" text, ADD COLUMN "platform" text`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "push_token" DROP COLUMN "name", DROP COLUMN "platform"`);
  }
}
