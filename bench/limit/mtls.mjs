import Fastify from 'fastify';
import pg from 'pg';
import { input, listen } from './listen.mjs';

const pool = new pg.Pool({ connectionString: input.databaseUrl, max: input.poolSize });
const subjects = new Map(input.subjects);

const select = {
  name: 'account-by-identity',
  text: 'SELECT "account_id" FROM "identity" WHERE "provider" = $1 AND "subject" = $2',
};

const app = Fastify();
app.post('/v1/auth/mtls', async (request, reply) => {
  const subject = subjects.get(request.headers['ssl-client-cert']);
  const { rows } = await pool.query({ ...select, values: ['mtls', subject] });
  if (rows.length === 0) {
    return reply.code(401).send();
  }
  return { success: true, token: input.token, accountId: rows[0].account_id, created: false };
});
await listen(app);
