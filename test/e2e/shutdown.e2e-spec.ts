import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, logIn, type Login } from '../helpers/client.js';
import { connect, type Refusal, refusedConnect } from '../helpers/client-live.js';
import { type Exit, type Server, startServer } from '../helpers/server.js';

let server: Server;

beforeEach(async () => {
  server = await startServer();
});

afterEach(() => server.stop());

const isDraining = async (): Promise<boolean> =>
  (await call(server, 'GET', '/readyz')).status === 503;

async function untilDraining(): Promise<void> {
  while (!(await isDraining())) {
    await sleep(5);
  }
}

/** Enough connections to keep the server at saying goodbye for a second. */
async function crowd(): Promise<void> {
  const logins = await Promise.all(Array.from({ length: 6 }, () => logIn(server)));
  await Promise.all(
    logins.flatMap(({ token }) => Array.from({ length: 90 }, () => connect(server, { token }))),
  );
}

const post = ({ token }: Login, length: number): string =>
  `POST /v1/push-tokens HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n` +
  `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

describe('after SIGTERM', () => {
  it('the process is unready, serves requests, and takes no live connections', async () => {
    await crowd();
    const { token } = await logIn(server);
    const exit = server.kill('SIGTERM');
    await untilDraining();
    const ready = await call(server, 'GET', '/readyz');
    expect(ready.status).toBe(503);
    expect(ready.body['dependencies']).toMatchObject({ server: 'draining', database: 'ready' });
    expect(ready.headers.connection).toBe('close');
    const request = await call(server, 'GET', '/v1/push-tokens', { token });
    expect({ status: request.status, connection: request.headers.connection }).toEqual({
      status: 200,
      connection: 'close',
    });
    const refusal = await refusedConnect(server, { token });
    expect(refusal.data).toMatchObject({
      statusCode: 503,
      code: 'unavailable',
      retryAfterSeconds: 1,
    });
    expect(await exit).toEqual({ code: 0, signal: null });
  });

  it('clients hear why and when to come back, and the close code says restart', async () => {
    const { token } = await logIn(server);
    const client = await connect(server, { token });
    const closed = new Promise<readonly unknown[]>((done) => {
      client.socket.once('disconnect', (...facts) => done(facts));
    });
    const exit = server.kill('SIGTERM');
    expect(await client.next('closing')).toMatchObject({
      statusCode: 503,
      code: 'unavailable',
      retryAfterSeconds: 1,
    });
    const [reason, details] = await closed;
    expect({ reason, details }).toMatchObject({
      reason: 'transport close',
      details: { context: { code: 1012 } },
    });
    expect(await exit).toEqual({ code: 0, signal: null });
  });

  it('an ordinary client comes back, by itself or when it was told to', async () => {
    const { token } = await logIn(server);
    const client = await connect(
      server,
      { token },
      { reconnection: true, reconnectionDelay: 200, reconnectionDelayMax: 400 },
    );
    await client.next('hello');
    // The helper gives up at the first refusal, which here is a server that is not back yet.
    client.socket.off('connect_error');
    client.socket.on('connect_error', (error: Refusal) => {
      const wait = error.data?.['retryAfterSeconds'];
      if (typeof wait === 'number') {
        setTimeout(() => client.socket.connect(), wait * 1000);
      }
    });
    await server.kill('SIGTERM');
    server = await server.restart();
    expect(await client.next('hello')).toMatchObject({ seq: 0 });
    client.close();
  });

  it('a request that is under way is answered, and its connection closed', async () => {
    const login = await logIn(server);
    const socket = openSocket(server.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    const body = JSON.stringify({ token: 'slow' });
    socket.write(post(login, body.length) + body.slice(0, 5));
    await sleep(100);
    const exit = server.kill('SIGTERM');
    await sleep(800);
    socket.write(body.slice(5));
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).toMatch(/connection: close/i);
    expect(await exit).toEqual({ code: 0, signal: null });
    server = await server.restart();
    const { body: stored } = await call(server, 'GET', '/v1/push-tokens', login);
    expect(stored['tokens']).toMatchObject([{ token: 'slow' }]);
  });

  it('it ends as soon as nothing is left, long before the grace period', async () => {
    await call(server, 'GET', '/v1/features');
    const started = Date.now();
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(Date.now() - started).toBeLessThan(5000);
  });

  it('a client that answers nothing does not hold it', async () => {
    const { token } = await logIn(server);
    const socket = openSocket(server.port, '127.0.0.1');
    socket.write(
      'GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\n' +
        'upgrade: websocket\r\nsec-websocket-version: 13\r\n' +
        'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    await once(socket, 'data');
    const packet = Buffer.from(`40${JSON.stringify({ token })}`);
    socket.write(Buffer.concat([Buffer.from([0x81, 0xfe, 0, packet.length, 0, 0, 0, 0]), packet]));
    await once(socket, 'data');
    const started = Date.now();
    expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(Date.now() - started).toBeLessThan(8000);
    socket.destroy();
  });

  it('a second signal ends it at once', async () => {
    const login = await logIn(server);
    const socket = openSocket(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(`${post(login, 10)}{`);
    await sleep(100);
    const exits: Promise<Exit>[] = [server.kill('SIGTERM')];
    await untilDraining();
    const started = Date.now();
    exits.push(server.kill('SIGINT'));
    expect(await Promise.all(exits)).toEqual([
      { code: 1, signal: null },
      { code: 1, signal: null },
    ]);
    expect(Date.now() - started).toBeLessThan(1000);
    socket.destroy();
  });
});
