import Fastify from 'fastify';
import { input, listen } from './listen.mjs';

const body = Buffer.from(input.body);
const app = Fastify();
app.get('/v1/features', (request, reply) => {
  reply.header('content-type', input.contentType).send(body);
});
await listen(app);
