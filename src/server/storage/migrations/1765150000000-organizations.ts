import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the ids of the organisations that rules name. */
export class Organizations1765150000000 implements MigrationInterface {
  readonly name = 'Organizations1765150000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE organization (
        provider text NOT NULL,
        issuer text NOT NULL,
        name text NOT NULL,
        organization_id text NOT NULL,
        first_seen_at timestamptz NOT NULL,
        CONSTRAINT organization_pkey PRIMARY KEY (provider, issuer, name)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE organization');
  }
}
