import { createDatabase, runSql, startPostgres } from './fixtures.mjs';
import { CPU_OF, pin } from './processes.mjs';

/** When the first audit event was; the others follow second by second. */
export const FIRST_EVENT_AT = Date.UTC(2026, 0, 1);

/** The statements whose time counts; what is read is as fast without fsync as with it. */
const TIMED = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
  shared_buffers: '512MB',
  max_wal_size: '8GB',
};

/**
 * An empty database. With `DATABASE_URL` it is made on that server; without, on a private cluster that
 * lives as long as the run.
 *
 * @returns {Promise<{url: string, description: string, close: () => Promise<void>}>}
 */
export async function openDatabase() {
  const given = process.env.DATABASE_URL;
  const cluster = given === undefined ? await startCluster() : null;
  const { url, drop } = await createDatabase(cluster?.url ?? given);
  const [{ server_version: version }] = await runSql(url, 'SHOW server_version');
  return {
    url,
    description: `${version}, ${cluster === null ? 'the server of DATABASE_URL' : 'a private cluster'}`,
    close: () => (cluster === null ? drop() : cluster.stop()),
  };
}

/** A private PostgreSQL on the CPU of the database. */
export async function startCluster(options) {
  const cluster = await startPostgres(options);
  pin(cluster, CPU_OF.database);
  return cluster;
}

/** Runs `work` on a private cluster that counts statements, and holds a million accounts in memory. */
export async function withTimedCluster(context, work) {
  const cluster = await startCluster({ durable: false, settings: TIMED });
  try {
    await runSql(cluster.url, 'CREATE EXTENSION pg_stat_statements');
    return await work({ ...context, databaseUrl: cluster.url });
  } finally {
    await cluster.stop();
  }
}

/** Marks statements of the bench, which {@link timeStatements} does not count. */
export const OWN = '/* bench */';

/**
 * @param {() => Promise<T>} work
 * @returns {Promise<{result: T, ms: number, statements: {text: string, calls: number, ms: number}[]}>} `ms`
 *   in PostgreSQL, planning included
 * @template T
 */
export async function timeStatements(url, work) {
  await runSql(url, 'SELECT pg_stat_statements_reset()');
  const result = await work();
  const statements = await runSql(
    url,
    `SELECT query AS text, calls::int, total_plan_time + total_exec_time AS ms FROM pg_stat_statements
     WHERE query NOT LIKE '%pg_stat_statements%' AND position($1 IN query) = 0`,
    [OWN],
  );
  return { result, statements, ms: sumOf(statements, 'ms') };
}

export function sumOf(statements, field) {
  return statements.reduce((sum, statement) => sum + statement[field], 0);
}

/**
 * Every tenth account is disabled, every hundredth ineligible; one in ten uses another provider. Each has
 * an identity that is due tomorrow or later, an audit event, a session and a push token.
 */
const FILL = `
  WITH filled AS MATERIALIZED (
    SELECT n, gen_random_uuid() AS id FROM generate_series($1::int, $2::int) AS n),
  accounts AS (
    INSERT INTO account (id, created_at, key_mode, encryption_mode, disabled_at)
    SELECT id, now(), 'keyed', 'e2ee', CASE WHEN n % 10 = 0 THEN now() END FROM filled),
  identities AS (
    INSERT INTO identity (id, account_id, provider, subject, login, connected_at, facts,
      eligibility_status, eligibility_checked_at, eligibility_next_check_at)
    SELECT gen_random_uuid(), id, CASE WHEN n % 10 = 1 THEN 'guild' ELSE 'people' END, 'sub-' || n,
      'User' || n, now(), jsonb_build_object('login', 'User' || n, 'email', 'person' || n || '@Acme.example',
        'emailVerified', true, 'groups', jsonb_build_array(), 'memberships', jsonb_build_object()),
      CASE WHEN n % 100 = 0 THEN 'ineligible' ELSE 'eligible' END,
      now(), now() + interval '1 day' * (1 + random()) FROM filled),
  events AS (
    INSERT INTO audit_event (at, kind, actor, account_id)
    SELECT to_timestamp(${FIRST_EVENT_AT / 1000} + n),
      CASE n % 1000 WHEN 0 THEN 'account-disabled' ELSE 'logged-in' END,
      CASE n % 1000 WHEN 0 THEN 'alice' ELSE 'user' END, id FROM filled),
  sessions AS (
    INSERT INTO session (id, account_id, token_epoch, created_at, last_seen_at, expires_at, method)
    SELECT gen_random_uuid(), id, 0, now(), now(), now() + interval '7 days', 'key_challenge'
    FROM filled)
  INSERT INTO push_token (id, account_id, token, token_hash, created_at, updated_at)
  SELECT gen_random_uuid(), id, 'ExponentPushToken[' || n || ']', sha256(n::text::bytea), now(),
    now() FROM filled`;

/**
 * Adds accounts by SQL, numbered from `from` to `to`: number 4711 logs in as User4711 at its provider and
 * has the address person4711@Acme.example.
 *
 * @param {string} url of a database with the schema
 * @param {{from?: number, to: number}} range both included
 */
export async function fillAccounts(url, { from = 1, to }) {
  const startedAt = performance.now();
  await runSql(url, FILL, [from, to]);
  await runSql(url, 'VACUUM ANALYZE');
  const filledIn = Math.round((performance.now() - startedAt) / 1000);
  console.error(`filled with ${to.toLocaleString('en')} accounts in ${filledIn} s`);
}
