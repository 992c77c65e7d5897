import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  DROP_SECURITY_EVENT_FUNCTIONS,
  securityEventFunctions,
  SECURITY_EVENT_TRIGGERS,
  TRANSACTION_NUMBER,
} from './security-event-triggers.js';
import { SIGNAL_TABLES } from './signal-tables.js';

const TABLES = [
  ...SIGNAL_TABLES,
  TRANSACTION_NUMBER,
  `CREATE TABLE IF NOT EXISTS account (
    id uuid CONSTRAINT account_pkey PRIMARY KEY,
    created_at timestamptz NOT NULL,
    key_mode text NOT NULL,
    public_key bytea CONSTRAINT account_public_key_key UNIQUE,
    encryption_mode text NOT NULL,
    token_epoch integer NOT NULL DEFAULT 0,
    disabled_at timestamptz,
    last_seen_at timestamptz,
    update_seq bigint NOT NULL DEFAULT 0,
    encryption_mode_changed_at timestamptz,
    settings_form text,
    settings_content bytea,
    settings_version integer NOT NULL DEFAULT 0
  )`,
  `CREATE TABLE IF NOT EXISTS account_credential (
    account_id uuid NOT NULL
      CONSTRAINT account_credential_account_fkey REFERENCES account (id) ON DELETE CASCADE,
    service text NOT NULL,
    form text NOT NULL,
    content bytea NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT account_credential_pkey PRIMARY KEY (account_id, service)
  )`,
  `CREATE TABLE IF NOT EXISTS identity (
    id uuid CONSTRAINT identity_pkey PRIMARY KEY,
    account_id uuid NOT NULL
      CONSTRAINT identity_account_fkey REFERENCES account (id) ON DELETE CASCADE,
    provider text NOT NULL,
    subject text NOT NULL,
    login text,
    connected_at timestamptz NOT NULL,
    eligibility_status text NOT NULL DEFAULT 'unknown',
    eligibility_reason text,
    eligibility_checked_at timestamptz,
    eligibility_next_check_at timestamptz,
    credentials bytea,
    facts jsonb,
    consecutive_failures integer NOT NULL DEFAULT 0,
    lease_until timestamptz,
    issuer text,
    certificate jsonb,
    CONSTRAINT identity_account_provider_key UNIQUE (account_id, provider),
    CONSTRAINT identity_provider_subject_key UNIQUE (provider, subject)
  )`,
  `CREATE TABLE IF NOT EXISTS session (
    id uuid CONSTRAINT session_pkey PRIMARY KEY,
    account_id uuid NOT NULL
      CONSTRAINT session_account_fkey REFERENCES account (id) ON DELETE CASCADE,
    token_epoch integer NOT NULL,
    created_at timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    method text NOT NULL,
    client_name text,
    client_platform text,
    address text,
    provider_session bytea,
    certificate jsonb,
    authenticated_at timestamptz,
    authenticated_by text
  ) WITH (fillfactor = 90)`,
  `CREATE TABLE IF NOT EXISTS device_authorization (
    id uuid CONSTRAINT device_authorization_pkey PRIMARY KEY,
    user_code text NOT NULL CONSTRAINT device_authorization_user_code_key UNIQUE,
    public_key bytea NOT NULL,
    proof_hash bytea NOT NULL,
    client_name text,
    client_platform text,
    address text,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    polled_at timestamptz,
    state text NOT NULL DEFAULT 'pending',
    account_id uuid
      CONSTRAINT device_authorization_account_fkey REFERENCES account (id) ON DELETE CASCADE,
    approved_by uuid,
    sealed text
  )`,
  `CREATE TABLE IF NOT EXISTS device_lookup_miss (
    id uuid CONSTRAINT device_lookup_miss_pkey PRIMARY KEY,
    account_id uuid NOT NULL
      CONSTRAINT device_lookup_miss_account_fkey REFERENCES account (id) ON DELETE CASCADE,
    address_group text NOT NULL,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS push_token (
    id uuid CONSTRAINT push_token_pkey PRIMARY KEY,
    account_id uuid NOT NULL
      CONSTRAINT push_token_account_fkey REFERENCES account (id) ON DELETE CASCADE,
    token text NOT NULL,
    token_hash bytea NOT NULL,
    client_server_url text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    name text,
    platform text,
    session_id uuid,
    CONSTRAINT push_token_account_token_key UNIQUE (account_id, token_hash)
  )`,
  `CREATE TABLE IF NOT EXISTS invitation (
    id uuid CONSTRAINT invitation_pkey PRIMARY KEY,
    code_hash bytea NOT NULL CONSTRAINT invitation_code_hash_key UNIQUE,
    note text,
    uses integer NOT NULL,
    used integer NOT NULL DEFAULT 0,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    CONSTRAINT invitation_uses_check CHECK (used >= 0 AND used <= uses)
  )`,
  `CREATE TABLE IF NOT EXISTS audit_event (
    id bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT audit_event_pkey PRIMARY KEY,
    at timestamptz NOT NULL,
    kind text NOT NULL,
    actor text NOT NULL,
    account_id uuid,
    provider text,
    reason text,
    count integer NOT NULL DEFAULT 1,
    session_id uuid,
    address text,
    invitation_id uuid,
    subject text,
    login text,
    email text,
    token_end text,
    txn bigint
  )`,
  // Not in the definition above: a column that is added with it would be filled in a rewrite.
  `ALTER TABLE audit_event ADD COLUMN IF NOT EXISTS txn bigint,
    ALTER COLUMN txn SET DEFAULT transaction_number()`,
  `CREATE OR REPLACE FUNCTION audit_event_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'audit_event is append-only'; END $$`,
  `CREATE OR REPLACE TRIGGER audit_event_append_only BEFORE UPDATE ON audit_event
  FOR EACH STATEMENT EXECUTE FUNCTION audit_event_is_append_only()`,
  `CREATE TABLE IF NOT EXISTS login_challenge (
    challenge bytea CONSTRAINT login_challenge_pkey PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS logout_token (
    token_hash bytea CONSTRAINT logout_token_pkey PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS client_assertion (
    assertion_hash bytea CONSTRAINT client_assertion_pkey PRIMARY KEY,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS external_flow (
    state_hash bytea CONSTRAINT external_flow_pkey PRIMARY KEY,
    contents bytea NOT NULL,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS external_pending (
    pending_hash bytea CONSTRAINT external_pending_pkey PRIMARY KEY,
    contents bytea NOT NULL,
    expires_at timestamptz NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS signing_key (
    id uuid CONSTRAINT signing_key_pkey PRIMARY KEY,
    kid text NOT NULL CONSTRAINT signing_key_kid_key UNIQUE,
    alg text NOT NULL,
    private_key bytea NOT NULL,
    signs_from timestamptz NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS resource_session (
    id uuid CONSTRAINT resource_session_pkey PRIMARY KEY,
    session_id uuid NOT NULL,
    account_id uuid NOT NULL,
    resource_server text NOT NULL,
    expires_at timestamptz NOT NULL,
    judge_at timestamptz,
    rules text NOT NULL DEFAULT '',
    txn bigint,
    CONSTRAINT resource_session_session_key UNIQUE (session_id, resource_server)
  )`,
  `CREATE TABLE IF NOT EXISTS security_event (
    id uuid CONSTRAINT security_event_pkey PRIMARY KEY,
    resource_server text NOT NULL,
    xid bigint NOT NULL DEFAULT transaction_number(),
    at timestamptz NOT NULL,
    sid uuid,
    account_id uuid,
    code text,
    txn bigint NOT NULL,
    stream_id uuid,
    state text
  )`,
  `CREATE TABLE IF NOT EXISTS event_stream (
    id uuid CONSTRAINT event_stream_pkey PRIMARY KEY,
    resource_server text NOT NULL,
    description text,
    created_at timestamptz NOT NULL,
    polled_at timestamptz NOT NULL,
    verified_at timestamptz,
    position bigint NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS event_acknowledgement (
    stream_id uuid NOT NULL
      CONSTRAINT event_acknowledgement_stream_fkey REFERENCES event_stream (id) ON DELETE CASCADE,
    event_id uuid NOT NULL,
    xid bigint NOT NULL,
    CONSTRAINT event_acknowledgement_pkey PRIMARY KEY (stream_id, event_id)
  )`,
];

/** Columns that databases from before 0.1.0 may lack: their tables already exist. */
const ADDED_COLUMNS = {
  account: ['last_seen_at timestamptz'],
  identity: ['issuer text', 'certificate jsonb'],
  session: [
    'provider_session bytea',
    'certificate jsonb',
    'authenticated_at timestamptz',
    'authenticated_by text',
  ],
  push_token: ['name text', 'platform text', 'session_id uuid'],
  audit_event: [
    'session_id uuid',
    'address text',
    'invitation_id uuid',
    'subject text',
    'login text',
    'email text',
    'token_end text',
  ],
  resource_session: ['judge_at timestamptz', `rules text NOT NULL DEFAULT ''`, 'txn bigint'],
};

const INDEXES = {
  account_seen_idx: `account ((COALESCE(last_seen_at, created_at)), id)`,
  account_disabled_idx: `account (id) WHERE disabled_at IS NOT NULL`,

  identity_next_check_idx: `identity (provider, eligibility_next_check_at)`,
  identity_answered_idx: `identity (provider, (COALESCE(eligibility_checked_at, connected_at)))`,
  identity_ineligible_idx: `identity (account_id) WHERE eligibility_status = 'ineligible'`,
  identity_login_idx: `identity ((lower(login) COLLATE "C"), account_id)`,
  identity_email_idx: `identity ((lower(facts ->> 'email') COLLATE "C"), account_id)
    WHERE facts ->> 'email' IS NOT NULL`,
  identity_oid_idx: `identity (provider, (facts ->> 'oid')) WHERE facts ->> 'oid' IS NOT NULL`,
  identity_certificate_subject_idx: `identity ((lower(subject) COLLATE "C"), account_id)
    WHERE provider = 'mtls'`,

  session_account_idx: `session (account_id)`,
  session_expires_idx: `session (expires_at)`,
  session_provider_session_idx: `session (provider_session) WHERE provider_session IS NOT NULL`,

  device_authorization_expires_idx: `device_authorization (expires_at)`,
  device_lookup_miss_account_idx: `device_lookup_miss (account_id, expires_at)`,
  device_lookup_miss_address_idx: `device_lookup_miss (address_group, expires_at)`,
  device_lookup_miss_expires_idx: `device_lookup_miss (expires_at)`,

  push_token_account_updated_idx: `push_token (account_id, updated_at)`,

  invitation_created_idx: `invitation (created_at, id)`,
  invitation_expires_idx: `invitation (expires_at)`,

  audit_event_at_idx: `audit_event (at)`,
  audit_event_account_idx: `audit_event (account_id, at, id) WHERE account_id IS NOT NULL`,
  audit_event_operator_idx: `audit_event (actor, at, id)
    WHERE actor NOT IN ('user', 'system', 'provider')`,
  audit_event_kind_idx: `audit_event (kind, at, id) WHERE kind <> 'logged-in'`,
  audit_event_refusal_idx: `audit_event (at, id)
    WHERE subject IS NOT NULL OR kind = 'admin-refused'`,

  login_challenge_expires_idx: `login_challenge (expires_at)`,
  logout_token_expires_idx: `logout_token (expires_at)`,
  client_assertion_expires_idx: `client_assertion (expires_at)`,
  external_flow_expires_idx: `external_flow (expires_at)`,
  external_pending_expires_idx: `external_pending (expires_at)`,

  resource_session_expires_idx: `resource_session (expires_at)`,
  resource_session_account_idx: `resource_session (account_id)`,
  resource_session_judge_idx: `resource_session (judge_at) WHERE judge_at IS NOT NULL`,
  resource_session_rules_idx: `resource_session (resource_server, rules)`,

  security_event_log_idx: `security_event (resource_server, xid, id)`,
  security_event_at_idx: `security_event (at)`,
  event_stream_polled_idx: `event_stream (resource_server, polled_at)`,

  directory_person_page_idx: `directory_person (provider, id) WHERE deleted_at IS NULL`,
  directory_person_external_idx: `directory_person (provider, external_id)`,
  directory_person_name_idx: `directory_person (provider, (lower(user_name) COLLATE "C"))`,
  directory_person_email_idx: `directory_person USING gin (email_values)`,
  identity_signal_refused_idx: `identity_signal (provider, at) WHERE NOT is_allowed`,
};

const UNIQUE_INDEXES = {
  directory_person_user_name_key: `directory_person (provider, (lower(user_name) COLLATE "C"))
    WHERE deleted_at IS NULL`,
  directory_person_subject_key: `directory_person (provider, subject) WHERE subject IS NOT NULL`,
};

/** Fills the times of a batch of accounts, in the order of their ids. */
const FILL_LAST_SEEN = `
  WITH batch AS (
    SELECT id FROM account WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT 5000),
  seen AS (
    SELECT account_id, max(last_seen_at) AS at FROM session
    WHERE account_id IN (SELECT id FROM batch) GROUP BY account_id),
  filled AS (
    UPDATE account SET last_seen_at = seen.at FROM seen
    WHERE account.id = account_id AND account.last_seen_at IS NULL)
  SELECT id FROM batch ORDER BY id DESC LIMIT 1`;

/** Fills the column of accounts from before it existed. */
async function fillLastSeen(runner: QueryRunner): Promise<void> {
  let last: string | null = null;
  do {
    const rows = (await runner.query(FILL_LAST_SEEN, [last])) as { readonly id: string }[];
    last = rows[0]?.id ?? null;
  } while (last !== null);
}

/**
 * Creates the schema of 0.1.0, or adds the missing parts to the database of an earlier commit
 * (docs/adr/0017-one-initial-migration.md). Each statement commits by itself, so that running
 * servers wait for one lock at a time, and has no effect when it runs again.
 */
export class Initial1764600000000 implements MigrationInterface {
  readonly name = 'Initial1764600000000';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of TABLES) {
      await runner.query(statement);
    }
    for (const [table, columns] of Object.entries(ADDED_COLUMNS)) {
      const added = columns.map((column) => `ADD COLUMN IF NOT EXISTS ${column}`);
      await runner.query(`ALTER TABLE ${table} ${added.join(', ')}`);
    }
    await fillLastSeen(runner);
    for (const [name, definition] of Object.entries(INDEXES)) {
      await runner.query(`CREATE INDEX IF NOT EXISTS ${name} ON ${definition}`);
    }
    for (const [name, definition] of Object.entries(UNIQUE_INDEXES)) {
      await runner.query(`CREATE UNIQUE INDEX IF NOT EXISTS ${name} ON ${definition}`);
    }
    for (const statement of [...securityEventFunctions(), ...SECURITY_EVENT_TRIGGERS]) {
      await runner.query(statement);
    }
  }

  /** Fails on the database of an earlier commit, which has further tables that reference accounts. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE account, account_credential, identity, session, device_authorization,
        device_lookup_miss, push_token, invitation, audit_event, login_challenge, logout_token,
        external_flow, external_pending, signing_key, resource_session, client_assertion,
        provider_signal, signal_stream, security_event, event_acknowledgement, event_stream,
        identity_signal, directory, directory_person`);
    await runner.query(`DROP FUNCTION audit_event_is_append_only()`);
    await runner.query(DROP_SECURITY_EVENT_FUNCTIONS);
  }
}
