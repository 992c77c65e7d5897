import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { generateKeyPair, SignJWT } from 'jose';
import { input, listen, prepare } from './listen.mjs';

const grantByToken = new Map(input.grants.map(({ token, grantId }) => [token, grantId]));
const { privateKey } = await generateKeyPair('ES256');
const LIFETIME_SECONDS = 900;

/** The use of a grant, which also shows that its person goes on. */
const use = prepare(
  'refresh',
  `UPDATE "program_grant" g SET "last_used_at" = now() FROM "account" a
   WHERE g."id" = $1 AND a."id" = g."account_id" AND a."disabled_at" IS NULL
   RETURNING g."sid", g."account_id", g."client_id", g."scopes"`,
);

const app = Fastify();
app.addContentTypeParser(
  'application/x-www-form-urlencoded',
  { parseAs: 'string' },
  (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body))),
);
app.post('/v1/oauth/token', async ({ body }, reply) => {
  const grantId = grantByToken.get(body.refresh_token);
  const [grant] = grantId === undefined ? [] : await use([grantId]);
  if (grant === undefined) {
    return reply.code(400).send();
  }
  const iat = Math.floor(Date.now() / 1000);
  const scope = grant.scopes.join(' ');
  const token = await new SignJWT({ sid: grant.sid, client_id: grant.client_id, scope })
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt' })
    .setIssuer(input.issuer)
    .setAudience(input.resource)
    .setSubject(grant.account_id)
    .setIssuedAt(iat)
    .setExpirationTime(iat + LIFETIME_SECONDS)
    .setJti(randomUUID())
    .sign(privateKey);
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: LIFETIME_SECONDS,
    scope,
    refresh_token: body.refresh_token,
  };
});
await listen(app);
