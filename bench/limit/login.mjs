import { createPublicKey, verify } from 'node:crypto';
import Fastify from 'fastify';
import { input, listen, prepare } from './listen.mjs';

const subjects = new Map(input.subjects);

const byKey = logIn('key_challenge', 'FROM "account" WHERE "public_key" = $1');
const byCertificate = logIn(
  'mtls',
  `FROM "identity" JOIN "account" ON "account"."id" = "identity"."account_id"
   WHERE "provider" = 'mtls' AND "subject" = $1`,
);

/** Finds the account, stores the session and its audit event, and keeps to 100 sessions. */
function logIn(method, found) {
  return prepare(
    `login-by-${method}`,
    `WITH "found" AS (
      SELECT "account"."id", "token_epoch", gen_random_uuid() AS "session_id" ${found}),
    "inserted" AS (
      INSERT INTO "session" ("id", "account_id", "token_epoch", "created_at", "last_seen_at",
        "expires_at", "method", "address")
      SELECT "session_id", "id", "token_epoch", now(), now(), now() + interval '30 days',
        '${method}', '127.0.0.1' FROM "found"),
    "audited" AS (
      INSERT INTO "audit_event" ("at", "kind", "actor", "account_id", "provider", "session_id",
        "address")
      SELECT now(), 'logged-in', 'user', "id", '${method}', "session_id", '127.0.0.1'
      FROM "found"),
    "ended" AS (
      DELETE FROM "session" WHERE "id" IN (
        SELECT "session"."id" FROM "session" JOIN "found" ON "found"."id" = "account_id"
        ORDER BY "last_seen_at" DESC OFFSET 99 FOR UPDATE OF "session" SKIP LOCKED))
    SELECT "id" FROM "found"`,
  );
}

function answer(rows, reply) {
  return rows.length === 0
    ? reply.code(401).send()
    : { success: true, token: input.token, accountId: rows[0].id, created: false };
}

const app = Fastify();
app.post('/v1/auth', async ({ body }, reply) => {
  const publicKey = Buffer.from(body.publicKey, 'base64');
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') },
    format: 'jwk',
  });
  const challenge = Buffer.from(body.challenge, 'base64');
  const isGenuine = verify(null, challenge, key, Buffer.from(body.signature, 'base64'));
  return answer(isGenuine ? await byKey([publicKey]) : [], reply);
});
app.post('/v1/auth/mtls', async ({ headers }, reply) =>
  answer(await byCertificate([subjects.get(headers['ssl-client-cert'])]), reply),
);
await listen(app);
