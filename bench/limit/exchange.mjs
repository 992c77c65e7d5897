import { input, prepare } from './listen.mjs';
import { serveTokens, sign } from './tokens.mjs';

const accountByToken = new Map(input.accounts.map(({ token, accountId }) => [token, accountId]));
const LIFETIME_SECONDS = 300;

/** The session at the backend: one statement, which also shows that the session goes on. */
const select = prepare(
  'exchange',
  `SELECT s."id", s."expires_at" FROM "session" s JOIN "account" a ON a."id" = s."account_id"
   WHERE s."account_id" = $1 ORDER BY s."expires_at" DESC LIMIT 1 FOR SHARE OF a`,
);

await serveTokens(async (form, reply) => {
  const subject = accountByToken.get(form.subject_token);
  if (subject === undefined) {
    return reply.code(400).send();
  }
  const rows = await select([subject]);
  const claims = { sid: rows[0].id, client_id: 'gatehouse' };
  const about = { audience: form.resource, subject, lifetimeSeconds: LIFETIME_SECONDS };
  return {
    access_token: await sign(claims, about),
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: LIFETIME_SECONDS,
  };
});
