import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { generateKeyPair, SignJWT } from 'jose';
import { input, listen, prepare } from './listen.mjs';

const accountByToken = new Map(input.accounts.map(({ token, accountId }) => [token, accountId]));
const { privateKey } = await generateKeyPair('ES256');
const LIFETIME_SECONDS = 300;

/** The session at the backend: one statement, which also shows that the session goes on. */
const select = prepare(
  'exchange',
  `SELECT s."id", s."expires_at" FROM "session" s JOIN "account" a ON a."id" = s."account_id"
   WHERE s."account_id" = $1 ORDER BY s."expires_at" DESC LIMIT 1 FOR SHARE OF a`,
);

const app = Fastify();
app.addContentTypeParser(
  'application/x-www-form-urlencoded',
  { parseAs: 'string' },
  (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body))),
);
app.post('/v1/oauth/token', async ({ body }, reply) => {
  const accountId = accountByToken.get(body.subject_token);
  if (accountId === undefined) {
    return reply.code(400).send();
  }
  const rows = await select([accountId]);
  const iat = Math.floor(Date.now() / 1000);
  const token = await new SignJWT({ sid: rows[0].id, client_id: 'gatehouse' })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .setIssuer(input.issuer)
    .setAudience(body.resource)
    .setSubject(accountId)
    .setIssuedAt(iat)
    .setExpirationTime(iat + LIFETIME_SECONDS)
    .setJti(randomUUID())
    .sign(privateKey);
  return {
    access_token: token,
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: LIFETIME_SECONDS,
  };
});
await listen(app);
