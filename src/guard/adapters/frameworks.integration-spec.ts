import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import fastify from 'fastify';
import { GuardFixture } from '../../../test/fixtures/guard-fixture.js';
import { answerTo, closeServer, listen } from '../../../test/helpers/local-server.js';
import { waitFor } from '../../../test/helpers/wait.js';
import type { Guard } from '../guard.js';
import { accessOf } from './credentials.js';

const METADATA = '/.well-known/oauth-protected-resource/relay';

let fixture: GuardFixture;
let guard: Guard;
let server: Server;
let port: number;
/** The connections that the guard held while handlers ran. */
let held: number[];

/** Breaks requests of `/fault`, as a mistake in the application may. */
function breakRequest(incoming: IncomingMessage): void {
  if (incoming.url === '/fault') {
    Object.defineProperty(incoming, 'headers', { value: undefined });
  }
}

async function startExpress(): Promise<void> {
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
  // The handler of Express answers errors, and prints none in this environment.
  app.set('env', 'test');
  server = createServer(app);
  port = await listen(server);
}

async function startFastify(): Promise<void> {
  const app = fastify();
  app.addHook('onRequest', async ({ raw }) => breakRequest(raw));
  await app.register(guard.fastify());
  app.get('/whoami', (incoming) => {
    held.push(guard.heldCount);
    return { account: accessOf(incoming)?.account };
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  server = app.server;
  port = (server.address() as AddressInfo).port;
}

async function ask(
  path: string,
  token: string | null,
  method = 'GET',
): Promise<{ status: number; text: string; headers: IncomingHttpHeaders }> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false });
  const { status, text, answer } = await answerTo(sent);
  return { status, text, headers: answer.headers };
}

beforeEach(async () => {
  fixture = await GuardFixture.start({ resource: 'https://backend.test/relay' });
  guard = await fixture.readyGuard();
  held = [];
});
afterEach(async () => {
  await closeServer(server);
  await fixture.close();
});

describe.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
])('the guard of %s', (_name, start) => {
  beforeEach(start);

  it('holds a request until its answer is sent', async () => {
    const token = await fixture.issuer.token({ account: 'ada' });
    expect(await ask('/whoami', token)).toMatchObject({ status: 200, text: '{"account":"ada"}' });
    expect(held).toEqual([1]);
    await waitFor('the release', () => guard.heldCount === 0);
  });

  it('answers a refusal as JSON that no cache keeps', async () => {
    const { status, text, headers } = await ask('/whoami', 'x');
    const refusal = guard.refusal('invalid-token');
    expect([status, JSON.parse(text)]).toEqual([401, refusal.body]);
    expect(headers['content-type']).toContain('application/json');
    expect(headers).toMatchObject({
      ...{ 'cache-control': 'no-store', 'www-authenticate': refusal.wwwAuthenticate },
    });
    expect(held).toEqual([]);
  });

  it('leaves an error that is no refusal to the application', async () => {
    const { status, text } = await ask('/fault', null);
    expect(status).toBe(500);
    expect(text).toContain('authorization');
  });

  it.each([METADATA, `${METADATA}?x=1`])('serves %s without a token', async (path) => {
    const { status, text, headers } = await ask(path, null);
    expect([status, JSON.parse(text)]).toEqual([200, guard.metadata]);
    expect(headers['content-type']).toContain('application/json');
    expect(headers).toMatchObject({
      ...{ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=3600' },
    });
    expect(guard.heldCount).toBe(0);
  });

  it('serves the headers of the metadata without a token', async () => {
    expect(await ask(METADATA, null, 'HEAD')).toMatchObject({ status: 200, text: '' });
  });

  it.each([
    [METADATA, 'POST'],
    ['/.well-known/oauth-protected-resource', 'GET'],
    [`/x${METADATA}`, 'GET'],
    [`/x?${METADATA}`, 'GET'],
    ['/none', 'GET'],
  ])('requires a token for %s with %s', async (path, method) => {
    expect(await ask(path, null, method)).toMatchObject({ status: 401 });
  });
});
