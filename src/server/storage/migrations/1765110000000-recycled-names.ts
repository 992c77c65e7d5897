import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEXES: Readonly<Record<string, string>> = {
  directory_person_folded_name_idx: `directory_person (provider, (lower(user_name COLLATE "C")))`,
  directory_person_former_name_idx: `directory_person USING gin (former_names)
    WHERE former_names <> '{}'::text[]`,
  identity_folded_login_idx: `identity (provider, (lower(login COLLATE "C")))`,
  identity_folded_email_idx: `identity (provider, (lower((facts ->> 'email') COLLATE "C")))
    WHERE facts ->> 'email' IS NOT NULL`,
  identity_signal_login_idx: `identity_signal (at) WHERE source = 'sign-out' AND is_allowed`,
};

const USER_NAME_KEY = 'directory_person_user_name_key';

/**
 * Adds who refused a person, the subjects that proved the name of a person, names that a refused person
 * had, and sign-outs that arrive while a login is finished. Compares names by ASCII letters alone. Each
 * statement commits by itself and may run again, because indexes are built concurrently.
 */
export class RecycledNames1765110000000 implements MigrationInterface {
  readonly name = 'RecycledNames1765110000000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE directory_person
      ADD COLUMN IF NOT EXISTS subjects text[] NOT NULL DEFAULT '{}',
      ADD COLUMN IF NOT EXISTS is_proven boolean NOT NULL DEFAULT false,
      ADD COLUMN IF NOT EXISTS former_names text[] NOT NULL DEFAULT '{}'`);
    await runner.query('ALTER TABLE identity_signal ADD COLUMN IF NOT EXISTS person_id uuid');
    await runner.query(`CREATE TABLE IF NOT EXISTS waiting_sign_out (
      name_hash bytea CONSTRAINT waiting_sign_out_pkey PRIMARY KEY,
      at timestamptz NOT NULL,
      expires_at timestamptz NOT NULL
    )`);
    await runner.query(`CREATE INDEX IF NOT EXISTS waiting_sign_out_expires_idx
      ON waiting_sign_out (expires_at)`);
    await runner.query(`UPDATE directory_person SET email_values = ARRAY(
        SELECT DISTINCT lower((email ->> 'value') COLLATE "C")
        FROM jsonb_array_elements(emails) AS email)
      WHERE deleted_at IS NULL AND emails::text ~ '[^\\x01-\\x7f]'`);
    await withoutLockTimeout(runner, async () => {
      for (const [name, definition] of Object.entries(INDEXES)) {
        await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
        await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${definition}`);
      }
      await replaceKey(runner, 'CONCURRENTLY', `lower(user_name COLLATE "C")`);
    });
  }

  async down(runner: QueryRunner): Promise<void> {
    await replaceKey(runner, '', `lower(user_name) COLLATE "C"`);
    for (const name of Object.keys(INDEXES)) {
      await runner.query(`DROP INDEX IF EXISTS ${name}`);
    }
    await runner.query('DROP TABLE IF EXISTS waiting_sign_out');
    await runner.query('ALTER TABLE identity_signal DROP COLUMN IF EXISTS person_id');
    await runner.query(`ALTER TABLE directory_person
      DROP COLUMN IF EXISTS subjects, DROP COLUMN IF EXISTS is_proven, DROP COLUMN IF EXISTS former_names`);
  }
}

/** A concurrent build waits for transactions, and no statement of a request waits for it. */
async function withoutLockTimeout(runner: QueryRunner, build: () => Promise<void>): Promise<void> {
  const [before] = (await runner.query('SHOW lock_timeout')) as { lock_timeout: string }[];
  await runner.query('SET lock_timeout = 0');
  await build();
  await runner.query(`SET lock_timeout = '${before?.lock_timeout}'`);
}

/** Keeps the name of the key, which running servers of the version before read from errors. */
async function replaceKey(
  runner: QueryRunner,
  how: 'CONCURRENTLY' | '',
  name: string,
): Promise<void> {
  const next = 'directory_person_next_user_name_key';
  await runner.query(`DROP INDEX ${how} IF EXISTS ${next}`);
  await runner.query(`CREATE UNIQUE INDEX ${how} ${next}
    ON directory_person (provider, (${name})) WHERE deleted_at IS NULL`);
  await runner.query(`DROP INDEX ${how} IF EXISTS ${USER_NAME_KEY}`);
  await runner.query(`ALTER INDEX ${next} RENAME TO ${USER_NAME_KEY}`);
}
