import { createServer } from 'node:http';
import express from 'express';
import { accessOf } from '../../../src/packages/guard/adapters/credentials.js';
import { breakRequest, describeGuardAdapter } from '../../contracts/guard-adapter.contract.js';
import { listen } from '../../helpers/local-server.js';

describeGuardAdapter('Express', async ({ guard, held }) => {
  const app = express();
  app.use((incoming, _response, next) => {
    breakRequest(incoming);
    next();
  });
  app.use('/.well-known', guard.express());
  app.use(guard.express());
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
