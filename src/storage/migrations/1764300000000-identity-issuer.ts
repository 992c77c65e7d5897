import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who named each identity: a subject is unique within its issuer only. */
export class IdentityIssuer1764300000000 implements MigrationInterface {
  readonly name = 'IdentityIssuer1764300000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "identity" ADD COLUMN "issuer" text`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "identity" DROP COLUMN "issuer"`);
  }
}
