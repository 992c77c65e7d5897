import { once } from 'node:events';
import { ServerResponse, type IncomingMessage } from 'node:http';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import fastify from 'fastify';
import { WebSocket, WebSocketServer } from 'ws';
import { GuardFixture } from '../../../../test/fixtures/guard-fixture.js';
import { waitFor } from '../../../../test/helpers/wait.js';
import type { Guard } from '../guard.js';
import { accessOf } from './credentials.js';
import { fastifyGuard } from './fastify.js';

let fixture: GuardFixture;
let guard: Guard;
beforeEach(async () => {
  fixture = await GuardFixture.start();
  guard = await fixture.readyGuard();
});
afterEach(() => fixture.close());

describe(fastifyGuard.name, () => {
  describe('with inject()', () => {
    const inject = async (headers: Readonly<Record<string, string | string[]>>) => {
      const app = fastify();
      await app.register(guard.fastify());
      app.get('/', (request) => ({ account: accessOf(request)?.account }));
      return app.inject({ url: '/', headers });
    };

    it('admits an injected request with a token, and releases it', async () => {
      const token = await fixture.issuer.token({ account: 'ada' });
      const answer = await inject({ authorization: `Bearer ${token}` });
      expect([answer.statusCode, answer.json()]).toEqual([200, { account: 'ada' }]);
      await waitFor('the release', () => guard.heldCount === 0);
    });

    it.each([
      [{}, 401, 'missing-token'],
      [{ authorization: 'Bearer x' }, 401, 'invalid-token'],
      [{ authorization: ['Bearer x', 'Bearer x'] }, 400, 'invalid-request'],
    ])('refuses an injected request with %j', async (headers, status, code) => {
      const answer = await inject(headers);
      expect([answer.statusCode, answer.json()]).toMatchObject([status, { code }]);
    });
  });

  describe('with HTTP/2', () => {
    let port: number;
    let client: ClientHttp2Session;
    let close: () => Promise<unknown>;
    beforeEach(async () => {
      const app = fastify({ http2: true });
      await app.register(guard.fastify());
      app.get('/', (request) => ({ account: accessOf(request)?.account }));
      app.get('/stream', (_request, reply) => {
        reply.hijack();
        reply.raw.writeHead(200);
        reply.raw.write('open');
      });
      await app.listen({ port: 0, host: '127.0.0.1' });
      ({ port } = app.server.address() as AddressInfo);
      client = connectHttp2(`http://127.0.0.1:${port}`);
      close = () => app.close();
    });
    afterEach(async () => {
      client.destroy();
      await close();
    });

    const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
      const stream = client.request({ ':path': path, ...headers });
      stream.on('error', () => undefined);
      const [{ ':status': status }] = (await once(stream, 'response')) as [{ ':status': number }];
      return { stream, status };
    };

    it('admits a token over HTTP/2, and releases the request', async () => {
      const token = await fixture.issuer.token({ account: 'ada' });
      const { stream, status } = await ask('/', { authorization: `Bearer ${token}` });
      expect([status, await text(stream)]).toEqual([200, '{"account":"ada"}']);
      await waitFor('the release', () => guard.heldCount === 0);
    });

    it('refuses a request over HTTP/2 without a token, and serves the metadata', async () => {
      expect((await ask('/')).status).toBe(401);
      expect((await ask('/.well-known/oauth-protected-resource')).status).toBe(200);
    });

    it('ends an open response with its session, and not as if it were complete', async () => {
      const token = await fixture.issuer.token({ sid: 'leaver' });
      const { stream } = await ask('/stream', { authorization: `Bearer ${token}` });
      await fixture.issuer.endSession('leaver');
      await waitFor('the stream closes', () => stream.closed);
      // CANCEL (RFC 9113, 7).
      expect([stream.rstCode, guard.heldCount]).toEqual([8, 0]);
    });
  });

  describe('with WebSockets that its router handles, as @fastify/websocket lets it', () => {
    let url: string;
    let heard: string[];
    let close: () => Promise<unknown>;
    async function start(prepare: (server: Parameters<Guard['upgrade']>[0]) => void) {
      const app = fastify({ forceCloseConnections: true });
      const sockets = new WebSocketServer({ noServer: true });
      const heads = new WeakMap<IncomingMessage, Buffer>();
      prepare(app.server);
      app.server.on('upgrade', (incoming, _socket, head) => {
        const response = new ServerResponse(incoming);
        heads.set(incoming, head);
        response.assignSocket(incoming.socket);
        app.routing(incoming, response);
      });
      await app.register(guard.fastify());
      app.get('/', ({ raw }, reply) => {
        const head = heads.get(raw);
        if (head === undefined) {
          return { account: accessOf(raw)?.account };
        }
        reply.hijack();
        sockets.handleUpgrade(raw, raw.socket, head, (socket) => {
          socket.on('message', (data) => heard.push(String(data)));
          socket.send(String(accessOf(raw)?.account));
        });
        return reply;
      });
      url = await app.listen({ port: 0, host: '127.0.0.1' });
      close = () => app.close();
    }
    beforeEach(() => {
      heard = [];
    });
    afterEach(() => close());

    it.each([
      ['alone', () => undefined],
      [
        'together with upgrade()',
        (server: Parameters<Guard['upgrade']>[0]) => guard.upgrade(server),
      ],
    ])('admits the token in a subprotocol, which is not selected, %s', async (_how, prepare) => {
      await start(prepare);
      const token = await fixture.issuer.token({ account: 'ada', sid: 'leaver' });
      const socket = new WebSocket(url, [`bearer.${token}`, 'relay.v1']);
      const [message] = (await once(socket, 'message')) as [Buffer];
      expect([message.toString(), socket.protocol]).toEqual(['ada', 'relay.v1']);
      socket.send('hello');
      await waitFor('the message', () => heard.length > 0);
      const closed = once(socket, 'close');
      await fixture.issuer.endSession('leaver');
      expect((await closed).map(String)).toEqual(['4401', 'session-revoked']);
      await waitFor('the release', () => guard.heldCount === 0);
    });

    it('refuses a WebSocket without a token, and disconnects it', async () => {
      await start(() => undefined);
      const socket = new WebSocket(url, ['relay.v1']);
      const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      expect(answer.statusCode).toBe(401);
      // The guard disconnects it: nothing else does.
      await waitFor('the disconnection', () => answer.socket.destroyed);
      socket.on('error', () => undefined).terminate();
    });

    it('accepts no subprotocol in an ordinary request', async () => {
      await start(() => undefined);
      const token = await fixture.issuer.token();
      const headers = { 'sec-websocket-protocol': `bearer.${token}` };
      expect((await fetch(url, { headers })).status).toBe(401);
    });
  });
});
