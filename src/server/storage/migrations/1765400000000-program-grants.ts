import type { MigrationInterface, QueryRunner } from 'typeorm';
import { GRANT_STATEMENTS, GRANT_TRIGGERS } from './program-grant-triggers.js';
import { securityEventFunctions } from './security-event-triggers.js';

const TABLE = `
  CREATE TABLE program_grant (
    id uuid CONSTRAINT program_grant_pkey PRIMARY KEY,
    account_id uuid NOT NULL,
    resource_server text NOT NULL,
    client_id text NOT NULL,
    client_name text NOT NULL,
    redirect_uri text NOT NULL,
    kind text NOT NULL DEFAULT 'code',
    scopes text[] NOT NULL,
    sid uuid,
    refusal text,
    judge_at timestamptz,
    rules text NOT NULL DEFAULT '',
    txn bigint,
    session_id uuid NOT NULL,
    authenticated_at timestamptz NOT NULL,
    authenticated_by text NOT NULL,
    provider_session bytea,
    certificate jsonb,
    created_at timestamptz NOT NULL,
    address text,
    expires_at timestamptz NOT NULL,
    granted_until timestamptz NOT NULL,
    code_hash bytea CONSTRAINT program_grant_code_key UNIQUE,
    code_challenge text,
    code_used_at timestamptz,
    last_used_at timestamptz NOT NULL,
    last_address text,
    refresh_key bytea,
    generation integer NOT NULL DEFAULT 0,
    superseded_at timestamptz[] NOT NULL DEFAULT '{}'
  )`;

const INDEXES = [
  'program_grant_account_idx ON program_grant (account_id)',
  'program_grant_session_idx ON program_grant (session_id)',
  'program_grant_sid_idx ON program_grant (sid) WHERE sid IS NOT NULL',
  'program_grant_expires_idx ON program_grant (expires_at)',
  'program_grant_judge_idx ON program_grant (judge_at) WHERE judge_at IS NOT NULL',
  'program_grant_rules_idx ON program_grant (resource_server, rules)',
  `program_grant_provider_session_idx ON program_grant (provider_session)
    WHERE provider_session IS NOT NULL`,
];

/** Adds the grants of programs, and ends them with what ends sessions at backends. */
export class ProgramGrants1765400000000 implements MigrationInterface {
  readonly name = 'ProgramGrants1765400000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TABLE);
    for (const index of INDEXES) {
      await runner.query(`CREATE INDEX ${index}`);
    }
    for (const statement of [...securityEventFunctions(GRANT_STATEMENTS), ...GRANT_TRIGGERS]) {
      await runner.query(statement);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of securityEventFunctions()) {
      await runner.query(statement);
    }
    await runner.query('DROP TABLE program_grant');
    await runner.query('DROP FUNCTION report_ended_grants(), report_lapsed_grant()');
  }
}
