import { query } from './postgres.mjs';

const FILLED_WITHIN_S = 300;
/** When the first audit event was; the others follow second by second. */
export const FIRST_EVENT_AT = Date.UTC(2026, 0, 1);

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
      'User' || n, now(), jsonb_build_object('email', 'person' || n || '@Acme.example'),
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
  await query(url, FILL, [from, to], FILLED_WITHIN_S * 1000);
  await query(url, 'VACUUM ANALYZE', [], FILLED_WITHIN_S * 1000);
  const filledIn = Math.round((performance.now() - startedAt) / 1000);
  console.error(`filled with ${to.toLocaleString('en')} accounts in ${filledIn} s`);
}
