import { createServer } from 'node:http';
import express, { type RequestHandler } from 'express';
import { accessOf } from '../../../src/packages/guard/adapters/credentials.js';
import { breakRequest, describeGuardAdapter } from '../../contracts/guard-adapter.contract.js';
import { listen } from '../../helpers/local-server.js';

describeGuardAdapter('Express', async ({ guard, held, requirement }) => {
  const app = express();
  app.use((incoming, _response, next) => {
    breakRequest(incoming);
    next();
  });
  const answerAccount: RequestHandler = (incoming, response) => {
    response.json({ account: accessOf(incoming)?.account });
  };
  if (requirement !== null) {
    app.use('/.well-known', guard.express(requirement));
    app.use(guard.express(requirement));
  }
  app.get('/write', guard.requireScope('notes:write'), answerAccount);
  app.get('/whoami', (incoming, response) => {
    held.push(guard.heldCount);
    response.json({ account: accessOf(incoming)?.account });
  });
  app.get('/stream', (_incoming, response) => {
    response.writeHead(200).write('open');
  });
  // The handler of Express answers errors, and prints none in this environment.
  app.set('env', 'test');
  const server = createServer(app);
  await listen(server);
  return server;
});
