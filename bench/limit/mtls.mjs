import Fastify from 'fastify';
import pg from 'pg';
import { input, listen } from './listen.mjs';

const pool = new pg.Pool({ connectionString: input.databaseUrl, max: input.poolSize });
const subjects = new Map(input.subjects);

/** Finds the account, stores the session and its audit event, and keeps to 100 sessions. */
const logIn = {
  name: 'login-by-identity',
  text: `
    WITH "found" AS (
      SELECT "account"."id", "token_epoch", gen_random_uuid() AS "session_id"
      FROM "identity" JOIN "account" ON "account"."id" = "identity"."account_id"
      WHERE "provider" = $1 AND "subject" = $2),
    "inserted" AS (
      INSERT INTO "session" ("id", "account_id", "token_epoch", "created_at", "last_seen_at",
        "expires_at", "method", "address")
      SELECT "session_id", "id", "token_epoch", now(), now(), now() + interval '30 days', 'mtls',
        '127.0.0.1' FROM "found"),
    "audited" AS (
      INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "session_id",
        "address")
      SELECT now(), 'logged-in', 'user', "id", 'mtls', "session_id", '127.0.0.1' FROM "found"),
    "ended" AS (
      DELETE FROM "session" WHERE "id" IN (
        SELECT "session"."id" FROM "session" JOIN "found" ON "found"."id" = "account_id"
        ORDER BY "last_seen_at" DESC OFFSET 99 FOR UPDATE OF "session" SKIP LOCKED))
    SELECT "id" FROM "found"`,
};

const app = Fastify();
app.post('/v1/auth/mtls', async (request, reply) => {
  const subject = subjects.get(request.headers['ssl-client-cert']);
  const { rows } = await pool.query({ ...logIn, values: ['mtls', subject] });
  if (rows.length === 0) {
    return reply.code(401).send();
  }
  return { success: true, token: input.token, accountId: rows[0].id, created: false };
});
await listen(app);
