import fastify from 'fastify';
import {
  breakRequest,
  describeGuardAdapter,
} from '../../../../test/contracts/guard-adapter.contract.js';
import { accessOf } from './credentials.js';

describeGuardAdapter('Fastify', async ({ guard, held, requirement }) => {
  const app = fastify({ forceCloseConnections: true });
  app.addHook('onRequest', async ({ raw }) => breakRequest(raw));
  const answerAccount = (incoming: object) => ({ account: accessOf(incoming)?.account });
  const onRequest = guard.requireScope('notes:write');
  if (requirement !== null) {
    await app.register(guard.fastify(requirement));
  }
  app.get('/write', { onRequest }, answerAccount);
  app.get('/whoami', (incoming) => {
    held.push(guard.heldCount);
    return { account: accessOf(incoming)?.account };
  });
  app.get('/stream', (_incoming, reply) => {
    reply.hijack();
    reply.raw.writeHead(200).write('open');
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return app.server;
});
