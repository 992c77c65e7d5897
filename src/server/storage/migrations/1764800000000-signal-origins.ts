import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the origin of signals to audit events, and an index of people without an identity. */
export class SignalOrigins1764800000000 implements MigrationInterface {
  readonly name = 'SignalOrigins1764800000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE audit_event ADD COLUMN issuer text, ADD COLUMN signal_txn text',
    );
    await runner.query(`
      CREATE INDEX directory_person_unmatched_idx ON directory_person (provider, id)
        WHERE subject IS NULL AND deleted_at IS NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX directory_person_unmatched_idx');
    await runner.query('ALTER TABLE audit_event DROP COLUMN issuer, DROP COLUMN signal_txn');
  }
}
