import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the signals about e-mail addresses of people who have no identity yet. */
export class EmailSignals1764900000000 implements MigrationInterface {
  readonly name = 'EmailSignals1764900000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE email_signal (
        provider text NOT NULL,
        email_hash bytea NOT NULL,
        is_allowed boolean NOT NULL,
        at timestamptz NOT NULL,
        CONSTRAINT email_signal_pkey PRIMARY KEY (provider, email_hash)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE email_signal');
  }
}
