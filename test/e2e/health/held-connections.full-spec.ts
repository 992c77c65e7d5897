import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { connect as openSocket, type Socket } from 'node:net';
import { call } from '../../helpers/client.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../helpers/wait.js';
import { AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { alice, startDirect, type DirectServer } from '../../fixtures/tls-listener-fixture.js';

const STRANGERS = 60;

function socketsOf({ pid }: Server): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

/** Connections that never close their own side. */
async function hold(port: number, bytes: string, count = STRANGERS): Promise<Socket[]> {
  const held = Array.from({ length: count }, () =>
    openSocket({ port, host: '127.0.0.1', allowHalfOpen: true })
      .on('error', () => undefined)
      .resume(),
  );
  await Promise.all(held.map((socket) => once(socket, 'connect')));
  held.forEach((socket) => bytes !== '' && socket.write(bytes));
  return held;
}

async function expectReleased(server: Server, before: number): Promise<void> {
  await waitFor('released connections', () => socketsOf(server) <= before + 2);
}

describe('connections that clients hold open', () => {
  let server: Server;

  beforeAll(async () => {
    server = await startServer({ env: { SERVICE_REQUEST_TIMEOUT_SECONDS: '1' } });
  });
  afterAll(() => server.stop());

  it.each([
    ['bytes that are not HTTP', 'nonsense\r\n\r\n'],
    [
      'a request that takes too long',
      'POST /v1/auth HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n',
    ],
    ['a request for a tunnel', 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n'],
    [
      'an upgrade elsewhere',
      'GET /x HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    ],
    [
      'a refused upgrade',
      'GET /v1/updates/ HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
    ],
    ['a request that closes', 'GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
  ])('releases connections after %s', async (_what, bytes) => {
    const before = socketsOf(server);
    const held = await hold(server.port, bytes);
    await Promise.all(held.map((socket) => once(socket, 'end')));
    await expectReleased(server, before);
    expect((await call(server, 'GET', '/livez')).status).toBe(200);
    held.forEach((socket) => socket.destroy());
  });
});

describe('the port that asks for certificates', () => {
  let direct: DirectServer;
  let port: number;

  beforeAll(async () => {
    direct = await startDirect();
    port = Number(new URL(direct.url).port);
  });
  afterAll(() => direct.server.stop());

  it.each([
    ['are silent', ''],
    ['send no TLS', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['begin a handshake only', '\u0016\u0003\u0001'],
  ])(
    'releases strangers that %s, also while they keep the connection open',
    async (_what, bytes) => {
      const before = socketsOf(direct.server);
      const held = await hold(port, bytes);
      await expectReleased(direct.server, before);
      held.forEach((socket) => socket.destroy());
      expect((await direct.logIn(alice)).status).toBe(200);
    },
  );

  it('serves a client while more strangers are silent than may be in a handshake', async () => {
    const before = socketsOf(direct.server);
    const held = await hold(port, '', 1300);
    expect((await direct.logIn(alice)).status).toBe(200);
    expect(socketsOf(direct.server)).toBeLessThan(before + 1100);
    held.forEach((socket) => socket.destroy());
    await expectReleased(direct.server, before);
  });
});

describe('the ports of operators', () => {
  let tokens: AdminTokensFile;
  let server: Server;

  beforeAll(async () => {
    tokens = await AdminTokensFile.create();
    server = await startServer({ env: { ...tokens.env, METRICS_PORT: '0' } });
  });
  afterAll(() => server.stop());

  const metrics = async (): Promise<string> => {
    const [, port] = await server.logged(/Metrics on port (\d+)/);
    return `http://127.0.0.1:${port}`;
  };
  const administration = (): Promise<string> => adminUrlOf(server);

  it.each([
    ['metrics', metrics, 100, '/metrics'],
    ['the administration', administration, 1000, '/admin/v1/me'],
  ])('serves %s to others while strangers hold connections', async (_name, find, most, path) => {
    const url = await find();
    const before = socketsOf(server);
    const held = await hold(Number(new URL(url).port), '', most + STRANGERS);
    expect((await call({ url }, 'GET', path, { token: tokens.reader })).status).toBe(200);
    expect(socketsOf(server)).toBeLessThan(before + most + 10);
    held.forEach((socket) => socket.destroy());
    await expectReleased(server, before);
  });
});
