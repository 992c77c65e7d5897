import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the cause of a login that a provider, or this server after its answer, refused. */
export class AuditDetails1765300000000 implements MigrationInterface {
  readonly name = 'AuditDetails1765300000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_event ADD COLUMN detail text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE audit_event DROP COLUMN detail');
  }
}
