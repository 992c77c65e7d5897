import { createPublicKey, verify } from 'node:crypto';
import Fastify from 'fastify';
import pg from 'pg';
import { input, listen } from './listen.mjs';

const pool = new pg.Pool({ connectionString: input.databaseUrl, max: input.poolSize });
const select = {
  name: 'account-by-key',
  text: 'SELECT "id" FROM "account" WHERE "public_key" = $1',
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
  const { rows } = await pool.query({ ...select, values: [publicKey] });
  return { success: true, token: input.token, accountId: rows[0].id, created: false };
});
await listen(app);
