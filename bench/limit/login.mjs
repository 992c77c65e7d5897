import { createPublicKey, verify } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';
import { input, listen } from './listen.mjs';

const pool = new pg.Pool({ connectionString: input.databaseUrl, max: input.poolSize });
/** Finds the account, stores the session and its audit event, and keeps to 100 sessions. */
const logIn = {
  name: 'login-by-key',
  text: `
    WITH "found" AS (
      SELECT "id", "token_epoch", gen_random_uuid() AS "session_id" FROM "account"
      WHERE "public_key" = $1),
    "inserted" AS (
      INSERT INTO "session" ("id", "account_id", "token_epoch", "created_at", "last_seen_at",
        "expires_at", "method", "address")
      SELECT "session_id", "id", "token_epoch", now(), now(), now() + interval '30 days',
        'key_challenge', '127.0.0.1' FROM "found"),
    "audited" AS (
      INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "session_id",
        "address")
      SELECT now(), 'logged-in', 'user', "id", 'key_challenge', "session_id", '127.0.0.1'
      FROM "found"),
    "ended" AS (
      DELETE FROM "session" WHERE "id" IN (
        SELECT "session"."id" FROM "session" JOIN "found" ON "found"."id" = "account_id"
        ORDER BY "last_seen_at" DESC OFFSET 99 FOR UPDATE OF "session" SKIP LOCKED))
    SELECT "id" FROM "found"`,
};

const app = Fastify();
app.post('/v1/auth', async (request, reply) => {
  const publicKey = Buffer.from(request.body.publicKey, 'base64');
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  const challenge = Buffer.from(request.body.challenge, 'base64');
  if (!verify(null, challenge, key, Buffer.from(request.body.signature, 'base64'))) {
    return reply.code(401).send();
  }
  const { rows } = await pool.query({ ...logIn, values: [publicKey] });
  return { success: true, token: input.token, accountId: rows[0].id, created: false };
});
await listen(app);
