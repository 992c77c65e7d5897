import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The certificate that a login showed, so that its revocation ends that session. Only adds. */
export class SessionCertificate1764430000000 implements MigrationInterface {
  readonly name = 'SessionCertificate1764430000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "session" ADD COLUMN "certificate" jsonb`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "session" DROP COLUMN "certificate"`);
  }
}
