import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a re-check of a certificate identity needs, after the connection that showed it has ended. */
export class IdentityCertificate1764410000000 implements MigrationInterface {
  readonly name = 'IdentityCertificate1764410000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "identity" ADD COLUMN "certificate" jsonb`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "identity" DROP COLUMN "certificate"`);
  }
}
