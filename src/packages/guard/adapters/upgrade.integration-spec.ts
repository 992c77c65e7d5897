import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GuardFixture } from '../../../../test/fixtures/guard-fixture.js';
import { answerTo, closeServer, listen } from '../../../../test/helpers/local-server.js';
import { waitFor } from '../../../../test/helpers/wait.js';
import type { Guard } from '../guard.js';

let fixture: GuardFixture;
let guard: Guard;
let server: Server;
let port: number;
/** Sockets that the guard handed to the application, and their errors. */
let upgraded: Duplex[];
let errors: unknown[];
/** Upgrades and requests of the server, and whether a listener took them. */
let taken: unknown[];
/** True once the guard reads the keys, which are sent when `released` is fulfilled. */
let isAsked: boolean;
let released: Promise<void>;
beforeEach(async () => {
  fixture = await GuardFixture.start();
  [upgraded, errors, taken] = [[], [], []];
  server = createServer((_request, response) => response.end('app'));
  [isAsked, released] = [false, Promise.resolve()];
  guard = await fixture.readyGuard({
    fetch: async (url, init) => {
      if (String(url).endsWith('/jwks')) {
        isAsked = true;
        await released;
      }
      return fetch(url, init);
    },
  });
  guard.upgrade(server);
  const { emit } = server;
  server.emit = (event: string, ...values: unknown[]): boolean => {
    const [incoming] = values as [IncomingMessage];
    if (incoming?.url?.endsWith('fault') === true) {
      Object.defineProperty(incoming, 'headers', { value: undefined });
    }
    const isTaken = emit(event, ...values);
    if (event === 'upgrade' || event === 'request') {
      taken.push([event, isTaken]);
    }
    return isTaken;
  };
  server.on('upgrade', (_request, socket: Duplex) => {
    upgraded.push(socket);
    errors.push(...socket.listeners('error'));
    socket.on('error', (error) => errors.push(error)).on('end', () => socket.end());
    socket.resume();
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\n\r\n');
  });
  port = await listen(server);
});
afterEach(async () => {
  upgraded.forEach((socket) => socket.destroy());
  await closeServer(server);
  await fixture.close();
});

interface Client {
  readonly socket: Socket;
  /** The bytes that arrived. */
  received(): Buffer;
}

async function upgrade(
  token: string | null,
  { protocol = 'websocket', path = '/', allowHalfOpen = false } = {},
): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen });
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', () => undefined);
  await once(socket, 'connect');
  const lines = [`GET ${path} HTTP/1.1`, 'host: x', 'connection: upgrade', `upgrade: ${protocol}`];
  const credentials = token === null ? [] : [`authorization: Bearer ${token}`];
  socket.write(`${[...lines, ...credentials].join('\r\n')}\r\n\r\n`);
  return { socket, received: () => Buffer.concat(chunks) };
}

const isClosed = async ({ socket }: Client): Promise<void> => {
  await waitFor('the socket closes', () => socket.closed);
};

const connections = (): Promise<number> =>
  new Promise((done) => server.getConnections((_error, count) => done(count)));

describe('an upgrade', () => {
  it('is refused with a whole answer, after which the socket is closed', async () => {
    const client = await upgrade(null);
    await isClosed(client);
    const [head = '', body = ''] = client.received().toString().split('\r\n\r\n');
    const refusal = guard.refusal('missing-token');
    expect(head.split('\r\n')).toEqual([
      'HTTP/1.1 401 Unauthorized',
      'cache-control: no-store',
      `www-authenticate: ${refusal.wwwAuthenticate}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ]);
    expect(JSON.parse(body)).toEqual(refusal.body);
    expect(upgraded).toEqual([]);
  });

  it.each(['websocket', 'WebSocket'])(
    'is closed as %s with a close frame when its session ends',
    async (protocol) => {
      const client = await upgrade(await fixture.issuer.token({ sid: 'leaver' }), { protocol });
      await waitFor('the upgrade', () => client.received().includes('\r\n\r\n'));
      const start = client.received().length;
      await fixture.issuer.endSession('leaver');
      await isClosed(client);
      const reason = Buffer.from('session-revoked');
      const code = Buffer.from([4401 >> 8, 4401 & 0xff]);
      expect(client.received().subarray(start)).toEqual(
        Buffer.concat([Buffer.from([0x88, reason.length + 2]), code, reason]),
      );
      expect(upgraded[0]?.destroyed).toBe(true);
    },
  );

  it('ends at once if it speaks another protocol', async () => {
    const client = await upgrade(await fixture.issuer.token({ sid: 'leaver' }), {
      protocol: 'other',
    });
    await waitFor('the upgrade', () => client.received().includes('\r\n\r\n'));
    const start = client.received().length;
    await fixture.issuer.endSession('leaver');
    await isClosed(client);
    expect(client.received().length).toBe(start);
  });

  it('is disconnected after a second if the client does not read', async () => {
    const client = await upgrade(await fixture.issuer.token({ sid: 'leaver' }));
    await waitFor('the upgrade', () => upgraded.length > 0);
    client.socket.pause();
    const [socket] = upgraded as [Duplex];
    socket.write(Buffer.alloc(64 * 1024 * 1024));
    await fixture.issuer.endSession('leaver');
    await waitFor('the end', () => socket.writableEnded);
    await fixture.time.advance(999);
    expect(socket.destroyed).toBe(false);
    await fixture.time.advance(1);
    expect(socket.destroyed).toBe(true);
    client.socket.destroy();
  });

  it('is disconnected once it is refused, also if the client goes on', async () => {
    const client = await upgrade(null, { allowHalfOpen: true });
    await waitFor('the end', () => client.socket.readableEnded);
    await waitFor('the server disconnects', async () => (await connections()) === 0);
    client.socket.destroy();
  });

  it('is disconnected once it is closed, also if the client goes on', async () => {
    const token = await fixture.issuer.token({ sid: 'leaver' });
    const client = await upgrade(token, { allowHalfOpen: true });
    await waitFor('the upgrade', () => upgraded.length > 0);
    await fixture.issuer.endSession('leaver');
    await waitFor('the end', () => client.socket.readableEnded);
    await waitFor('the server disconnects', async () => (await connections()) === 0);
    client.socket.destroy();
  });

  it('is disconnected without a close frame if the application has ended it', async () => {
    const token = await fixture.issuer.token({ sid: 'leaver' });
    const client = await upgrade(token, { allowHalfOpen: true });
    await waitFor('the upgrade', () => upgraded.length > 0);
    const [socket] = upgraded as [Duplex];
    socket.end();
    await waitFor('the end', () => client.socket.readableEnded);
    await fixture.issuer.endSession('leaver');
    await waitFor('the server disconnects', () => socket.destroyed);
    expect(errors).toEqual([]);
    client.socket.destroy();
  });

  it('is refused if it cannot be judged', async () => {
    const client = await upgrade(await fixture.issuer.token(), { path: '/fault' });
    await isClosed(client);
    expect(client.received().toString()).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n/);
    expect(client.received().toString()).toContain('"code":"unavailable"');
    expect(upgraded).toEqual([]);
  });

  it.each([
    ['a token', 300],
    ['an expired token', 0],
  ])(
    'is not handed over if the client disconnects during the check of %s',
    async (_what, tokenSeconds) => {
      let release = (): void => undefined;
      released = new Promise<void>((resolve) => (release = resolve));
      const token = await fixture.issuer.token({ tokenSeconds });
      const client = await upgrade(token);
      await waitFor('the keys are read', () => isAsked);
      client.socket.resetAndDestroy();
      await waitFor('the server notices it', async () => (await connections()) === 0);
      release();
      await guard.verify(token).catch(() => undefined);
      await nextTurn();
      expect([upgraded, guard.heldCount]).toEqual([[], 0]);
    },
  );

  it('is held until the client disconnects', async () => {
    const client = await upgrade(await fixture.issuer.token());
    await waitFor('the upgrade', () => upgraded.length > 0);
    // The guard left no listener that would hide an error from the application.
    expect([guard.heldCount, errors]).toEqual([1, []]);
    expect(taken).toEqual([['upgrade', true]]);
    client.socket.destroy();
    await waitFor('the release', () => guard.heldCount === 0);
  });
});

describe('a request of Socket.IO', () => {
  const ask = async (path: string, method = 'GET', headers = {}): Promise<number> => {
    const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false });
    return (await answerTo(sent)).status;
  };

  it.each([
    '/socket.io/',
    '/socket.io/?x=1',
    '/?transport=polling',
    '/?transport=websocket',
    '/?transport=webtransport',
    '/?transport=polling&sid=',
    '/other/?EIO=3&tr%61nsport=polling',
  ])('needs a token for %s', async (path) => {
    expect(await ask(path)).toBe(401);
    const headers = { authorization: `Bearer ${await fixture.issuer.token()}` };
    expect(await ask(path, 'GET', headers)).toBe(200);
    expect(taken).toEqual([
      ['request', true],
      ['request', true],
    ]);
  });

  it.each([
    '/',
    '/x',
    '/?transport=other',
    '/transport=polling',
    '/&transport=polling',
    '/x/socket.io/',
    '/socket.io',
  ])('is not meant by %s', async (path) => {
    expect(await ask(path)).toBe(200);
  });

  it('is refused if it cannot be judged', async () => {
    expect(await ask('/socket.io/?fault')).toBe(503);
  });

  it('needs no token as a preflight, which carries none', async () => {
    expect(await ask('/socket.io/', 'OPTIONS')).toBe(200);
  });
});
