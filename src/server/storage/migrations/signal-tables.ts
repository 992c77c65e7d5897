/** Tables of what directories and providers report about people, and of the streams that report it. */
export const SIGNAL_TABLES: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS provider_signal (
    provider text,
    kind text,
    received_at timestamptz NOT NULL,
    CONSTRAINT provider_signal_pkey PRIMARY KEY (provider, kind)
  )`,
  `CREATE TABLE IF NOT EXISTS signal_stream (
    provider text CONSTRAINT signal_stream_pkey PRIMARY KEY,
    transmitter text NOT NULL,
    stream_id text NOT NULL,
    audiences text[] NOT NULL,
    poll_url text,
    status text NOT NULL,
    reason text,
    verification_state text NOT NULL,
    connected_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    verified_at timestamptz,
    failure text,
    check_at timestamptz NOT NULL,
    leased_by uuid,
    leased_until timestamptz
  )`,
  `CREATE TABLE IF NOT EXISTS identity_signal (
    provider text NOT NULL,
    subject text NOT NULL,
    source text NOT NULL,
    is_allowed boolean NOT NULL,
    at timestamptz NOT NULL,
    CONSTRAINT identity_signal_pkey PRIMARY KEY (provider, subject, source)
  )`,
  `CREATE TABLE IF NOT EXISTS directory (
    provider text CONSTRAINT directory_pkey PRIMARY KEY,
    first_active_at timestamptz NOT NULL
  )`,
  `CREATE TABLE IF NOT EXISTS directory_person (
    id uuid CONSTRAINT directory_person_pkey PRIMARY KEY,
    provider text NOT NULL,
    external_id text,
    user_name text NOT NULL,
    is_active boolean NOT NULL,
    emails jsonb NOT NULL,
    email_values text[] NOT NULL,
    display_name text,
    subject text,
    is_ambiguous boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    deleted_at timestamptz
  )`,
];
