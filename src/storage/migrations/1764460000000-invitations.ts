import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Invitations, and which one an audit event is about. Only adds: older servers run on. */
export class Invitations1764460000000 implements MigrationInterface {
  readonly name = 'Invitations1764460000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "invitation" (
        "id" uuid CONSTRAINT "invitation_pkey" PRIMARY KEY,
        "code_hash" bytea NOT NULL CONSTRAINT "invitation_code_hash_key" UNIQUE,
        "note" text,
        "uses" integer NOT NULL,
        "used" integer NOT NULL DEFAULT 0,
        "created_by" text NOT NULL,
        "created_at" timestamptz NOT NULL,
        "expires_at" timestamptz NOT NULL,
        "revoked_at" timestamptz,
        CONSTRAINT "invitation_uses_check" CHECK ("used" >= 0 AND "used" <= "uses")
      )`);
    await runner.query(`CREATE INDEX "invitation_expires_idx" ON "invitation" ("expires_at")`);
    await runner.query(
      `CREATE INDEX "invitation_created_idx" ON "invitation" ("created_at", "id")`,
    );
    await runner.query(`ALTER TABLE "audit_event" ADD COLUMN "invitation_id" uuid`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "audit_event" DROP COLUMN "invitation_id"`);
    await runner.query(`DROP TABLE "invitation"`);
  }
}
