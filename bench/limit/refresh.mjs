import { input, prepare } from './listen.mjs';
import { serveTokens, sign } from './tokens.mjs';

const grantByToken = new Map(input.grants.map(({ token, grantId }) => [token, grantId]));
const LIFETIME_SECONDS = 900;

/** The use of a grant, which also shows that its person goes on. */
const use = prepare(
  'refresh',
  `UPDATE "program_grant" g SET "last_used_at" = now() FROM "account" a
   WHERE g."id" = $1 AND a."id" = g."account_id" AND a."disabled_at" IS NULL
   RETURNING g."sid", g."account_id" AS "subject", g."client_id", g."scopes"`,
);

await serveTokens(async (form, reply) => {
  const grantId = grantByToken.get(form.refresh_token);
  const [grant] = grantId === undefined ? [] : await use([grantId]);
  if (grant === undefined) {
    return reply.code(400).send();
  }
  const { sid, subject, client_id } = grant;
  const scope = grant.scopes.join(' ');
  const about = { audience: input.resource, subject, lifetimeSeconds: LIFETIME_SECONDS };
  return {
    access_token: await sign({ sid, client_id, scope }, about),
    token_type: 'Bearer',
    expires_in: LIFETIME_SECONDS,
    scope,
    refresh_token: form.refresh_token,
  };
});
