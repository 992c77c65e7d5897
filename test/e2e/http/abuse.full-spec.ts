import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as openSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { call, expectErrorShape, logIn } from '../../helpers/client.js';
import { connect, refusedConnect } from '../../helpers/client-live.js';
import { refusedUpgrade } from '../../helpers/raw-websocket.js';
import { OWN_PROCESS, startServer } from '../../fixtures/programs/server-fixture.js';

const MEGABYTE = 1024 * 1024;
/** The limit is far above uncollected garbage, and far below the bytes that are sent. */
const FLAT_BYTES = 120 * MEGABYTE;

const server = await startServer({
  host: OWN_PROCESS,
  env: {
    SERVICE_REQUEST_TIMEOUT_SECONDS: '12',
    SERVICE_UPDATES_TRANSPORTS: 'websocket,polling',
    SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE: '200',
    SERVICE_CORS_ORIGINS: 'https://app.example',
    SERVICE_TRUSTED_PROXIES: '127.0.0.1',
  },
});
const login = await logIn(server);
const bystander = await connect(server, { token: login.token });
const residentBefore = residentBytes();

afterAll(async () => {
  bystander.close();
  await server.stop();
});

afterEach(async () => {
  expect(await bystander.socket.emitWithAck('ping')).toEqual({});
  expect((await call(server, 'GET', '/v1/push-tokens', login)).status).toBe(200);
});

function residentBytes(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}

interface Raw {
  readonly socket: Socket;
  answer(): string;
  readonly closed: Promise<unknown>;
}

function raw(...chunks: readonly (string | Buffer)[]): Raw {
  const socket = openSocket(server.port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer = (answer + chunk.toString()).slice(-20_000)));
  socket.on('error', () => undefined);
  const closed = new Promise((done) => socket.once('close', done));
  chunks.forEach((chunk) => socket.write(chunk));
  return { socket, answer: () => answer, closed };
}

const POST =
  'POST /v1/auth HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: keep-alive\r\n';

const post = (body: unknown, headers: Record<string, string> = {}) =>
  call(server, 'POST', '/v1/push-tokens', { ...login, body, headers });

describe('slow clients', () => {
  it('disconnects 400 clients that send headers or bodies a byte at a time', async () => {
    const beginnings = [
      'GET /v1/features HTTP/1.1\r\nhost: x\r\nx-slow: ',
      `${POST}content-length: 5000\r\n\r\n{`,
    ];
    const slow = Array.from({ length: 200 }, () => beginnings.map((bytes) => raw(bytes))).flat();
    await Promise.all(slow.map(({ socket }) => once(socket, 'connect')));
    const dripping = setInterval(
      () => slow.forEach(({ socket }) => socket.writable && socket.write('x')),
      1000,
    );
    expect((await call(server, 'GET', '/v1/push-tokens', login)).status).toBe(200);
    await Promise.all(slow.map(({ closed }) => closed));
    clearInterval(dripping);
    for (const { answer } of slow) {
      // The connection may be reset before the answer is read, if a byte arrives after its end.
      expect(answer()).toMatch(/^(?:HTTP\/1.1 408 |$)/);
    }
  });
});

describe('large requests', () => {
  it('stops reading an endless body at the limit', async () => {
    const { socket, answer, closed } = raw(`${POST}transfer-encoding: chunked\r\n\r\n`);
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
    let sent = 0;
    for (; sent < 2000 && socket.writable; sent += 1) {
      if (!socket.write(chunk)) {
        await Promise.race([once(socket, 'drain').catch(() => undefined), closed]);
      }
    }
    socket.destroy();
    expect(sent).toBeLessThan(2000);
    // The connection may be reset before the answer is read, if the client continues to send.
    expect(answer()).toMatch(/^(?:HTTP\/1.1 413 |$)/);
  });

  it('leaves a compressed body packed', async () => {
    const bomb = gzipSync(Buffer.alloc(20 * MEGABYTE));
    const answer = await post(bomb, { 'content-encoding': 'gzip' });
    expect([400, 415]).toContain(answer.status);
    expectErrorShape(answer);
  });
});

describe('request smuggling', () => {
  const inner = 'GET /v1/push-tokens/smuggled HTTP/1.1\r\nhost: x\r\n\r\n';

  it.each([
    [
      'length and chunks',
      `${POST}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'chunks and length',
      `${POST}transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n0\r\n\r\n`,
    ],
    ['two codings', `${POST}transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n`],
    ['an unknown coding', `${POST}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`],
    ['a name with a space', `${POST}transfer-encoding : chunked\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${POST}content-length: 0\r\ncontent-length: 60\r\n\r\n`],
    ['a length with a sign', `${POST}content-length: +0\r\n\r\n`],
    ['a chunk of no size', `${POST}transfer-encoding: chunked\r\n\r\nzz\r\n\r\n`],
    [
      'a chunk longer than it says',
      `${POST}transfer-encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n`,
    ],
    ['a folded header', `GET / HTTP/1.1\r\nhost: x\r\nx-a: b\r\n c: d\r\n\r\n`],
    ['a bare line feed', `GET / HTTP/1.1\nhost: x\ncontent-length: 0\n\n`],
  ])('refuses request smuggling by %s and closes the connection', async (_how, bytes) => {
    const { answer, closed } = raw(bytes, inner);
    await closed;
    expect(answer()).toMatch(/^HTTP\/1.1 400 /);
    expect(answer().match(/^HTTP\/1.1 /gm)).toHaveLength(1);
  });
});

describe('live connections', () => {
  it('uses a version of Engine.IO with the fix of GHSA-r635-g3xr-vw7x', () => {
    const file = join(import.meta.dirname, '../../../node_modules/engine.io/package.json');
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
    const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
    expect(major * 1e6 + minor * 1e3 + patch).toBeGreaterThanOrEqual(6_006_007);
  });

  it('refuses binary data over polling', async () => {
    const path = '/v1/updates/?EIO=4&transport=polling';
    const opened = await call(server, 'GET', path);
    const { sid } = JSON.parse(opened.text.slice(1)) as { sid: string };
    const answer = await call(server, 'POST', `${path}&sid=${sid}`, {
      body: Buffer.alloc(1000, 0xff),
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect(answer.status).toBeGreaterThanOrEqual(400);
  });

  it('refuses a polling message larger than 16 KiB', async () => {
    const path = '/v1/updates/?EIO=4&transport=polling';
    const { sid } = JSON.parse((await call(server, 'GET', path)).text.slice(1)) as { sid: string };
    const answer = await call(server, 'POST', `${path}&sid=${sid}`, {
      body: `4${'x'.repeat(20_000)}`,
      headers: { 'content-type': 'text/plain' },
    }).catch(() => ({ status: 413 }));
    expect(answer.status).toBe(413);
  });

  it('refuses live connections without a valid token before the database, and further ones at the upgrade', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const flood = Array.from({ length: 400 }, (_value, index) =>
      refusedConnect(server, index % 2 === 0 ? {} : { token: 'a.b.c' }, { extraHeaders: headers }),
    );
    const codes = (await Promise.all(flood)).map(({ message }) => message);
    const count = (code: string): number => codes.filter((one) => one === code).length;
    expect(count('missing-token') + count('invalid-token')).toBe(200);
    // A client library reports a refused upgrade with this message only.
    expect(count('websocket error')).toBe(200);
    expect((await refusedUpgrade(server, { headers })).status).toBe(429);
    const other = await connect(
      server,
      { token: login.token },
      {
        extraHeaders: { 'x-forwarded-for': '203.0.113.10' },
      },
    );
    other.close();
  });
});

describe('the process after the attacks', () => {
  it('uses no more memory than before, and no prototype was changed', async () => {
    expect(residentBytes() - residentBefore).toBeLessThan(FLAT_BYTES);
    expect((await call(server, 'GET', '/readyz')).body).not.toHaveProperty('polluted');
    expect(server.logs()).not.toMatch(/unhandled|uncaught|polluted/i);
  });
});
