import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds requests of programs and the answers of sessions. */
export class Requests1764700000000 implements MigrationInterface {
  readonly name = 'Requests1764700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE agent_request (
        id uuid CONSTRAINT agent_request_pkey PRIMARY KEY,
        account_id uuid NOT NULL
          CONSTRAINT agent_request_account_fkey REFERENCES account (id) ON DELETE CASCADE,
        request_id text NOT NULL,
        session_id uuid NOT NULL,
        form text,
        content bytea,
        content_hash bytea NOT NULL,
        state text NOT NULL DEFAULT 'open',
        created_at timestamptz NOT NULL,
        expires_at timestamptz NOT NULL,
        closed_at timestamptz,
        kept_until timestamptz NOT NULL,
        CONSTRAINT agent_request_account_request_key UNIQUE (account_id, request_id)
      )`);
    await runner.query(`
      CREATE INDEX agent_request_open_expires_idx ON agent_request (expires_at)
        WHERE state = 'open'`);
    await runner.query(`
      CREATE INDEX agent_request_kept_until_idx ON agent_request (kept_until)`);
    await runner.query(`
      CREATE TABLE request_answer (
        request uuid NOT NULL
          CONSTRAINT request_answer_request_fkey REFERENCES agent_request (id) ON DELETE CASCADE,
        session_id uuid NOT NULL,
        session_name text,
        sealed text,
        answer_hash bytea NOT NULL,
        answered_at timestamptz NOT NULL,
        rejected_at timestamptz,
        CONSTRAINT request_answer_pkey PRIMARY KEY (request, session_id)
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE request_answer, agent_request');
  }
}
