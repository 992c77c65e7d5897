import Fastify from 'fastify';
import pg from 'pg';
import { input, listen } from './listen.mjs';

const pool = new pg.Pool({ connectionString: input.databaseUrl, max: input.poolSize });
const accountByToken = new Map(input.accounts.map(({ token, accountId }) => [token, accountId]));

const select = {
  name: 'push-tokens',
  text: `SELECT "id", "token", "client_server_url", "name", "platform", "created_at", "updated_at"
    FROM "push_token" WHERE "account_id" = $1 ORDER BY "updated_at" DESC`,
};

const app = Fastify();
app.get('/v1/push-tokens', async (request, reply) => {
  const accountId = accountByToken.get(request.headers.authorization?.slice('Bearer '.length));
  if (accountId === undefined) {
    return reply.code(401).send();
  }
  const { rows } = await pool.query({ ...select, values: [accountId] });
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
