import Fastify from 'fastify';
import { input, listen, prepare } from './listen.mjs';

const accountByToken = new Map(input.accounts.map(({ token, accountId }) => [token, accountId]));

const select = prepare(
  'push-tokens',
  `SELECT "id", "token", "client_server_url", "name", "platform", "created_at", "updated_at"
   FROM "push_token" WHERE "account_id" = $1 ORDER BY "updated_at" DESC`,
);

const app = Fastify();
app.get('/v1/push-tokens', async (request, reply) => {
  const accountId = accountByToken.get(request.headers.authorization?.slice('Bearer '.length));
  if (accountId === undefined) {
    return reply.code(401).send();
  }
  const rows = await select([accountId]);
  return {
    tokens: rows.map((row) => ({
      id: row.id,
      token: row.token,
      clientServerUrl: row.client_server_url,
      name: row.name,
      platform: row.platform,
      createdAt: row.created_at.getTime(),
      updatedAt: row.updated_at.getTime(),
    })),
  };
});
await listen(app);
