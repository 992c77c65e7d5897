import { once } from 'node:events';
import { connect as openSocket, type Socket } from 'node:net';
import { call, keptConnections, logIn, type Login } from '../../helpers/client.js';
import { connect, type Refusal, refusedConnect } from '../../helpers/client-live.js';
import {
  type Exit,
  OWN_PROCESS,
  type Server,
  startServer,
} from '../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../helpers/wait.js';

let server: Server;

/** Timeouts longer than a test, so that the server waits for open requests. */
const PATIENT = { SERVICE_REQUEST_TIMEOUT_SECONDS: '600', SERVICE_SHUTDOWN_GRACE_SECONDS: '600' };

beforeEach(async () => {
  server = await startServer({ env: PATIENT, host: OWN_PROCESS });
});

afterEach(() => server.stop());

const isDraining = async (): Promise<boolean> =>
  (await call(server, 'GET', '/readyz')).status === 503;

const untilDraining = (): Promise<true> => waitFor('the server drains', isDraining);

/** Opens connections before the drain, because a draining server soon accepts no new ones. */
async function openConnections(): Promise<void> {
  await Promise.all(Array.from({ length: 20 }, () => call(server, 'GET', '/livez')));
}

const post = ({ token }: Login, length: number): string =>
  `POST /v1/push-tokens HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n` +
  `content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`;

/** Begins a request whose body never arrives. */
async function beginPost(login: Login, length: number): Promise<Socket> {
  const socket = openSocket(server.port, '127.0.0.1');
  socket.write(post(login, length));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 100 /);
  return socket;
}

describe('after SIGTERM', () => {
  it('reports unready, serves requests, and refuses live connections', async () => {
    const login = await logIn(server);
    const { token } = login;
    const underWay = await beginPost(login, 2);
    await openConnections();
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
    const refusal = await refusedConnect(server, { token }, { agent: keptConnections });
    expect(refusal.data).toMatchObject({
      statusCode: 503,
      code: 'unavailable',
      retryAfterSeconds: 1,
    });
    underWay.write('{}');
    expect(await exit).toEqual({ code: 0, signal: null });
  });

  it('sends clients the reason and the delay to reconnect, and the close code of a restart', async () => {
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

  it('makes an ordinary client reconnect, by itself or after the given delay', async () => {
    const { token } = await logIn(server);
    const client = await connect(
      server,
      { token },
      { reconnection: true, reconnectionDelay: 200, reconnectionDelayMax: 400 },
    );
    await client.next('hello');
    // The helper stops at the first refusal, which here is a server that is not ready yet.
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

  it('answers a request in progress, and closes its connection', async () => {
    const login = await logIn(server);
    const body = JSON.stringify({ token: 'slow' });
    const socket = await beginPost(login, body.length);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(body.slice(0, 5));
    const exit = server.kill('SIGTERM');
    await untilDraining();
    socket.write(body.slice(5));
    await once(socket, 'close');
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).toMatch(/connection: close/i);
    expect(await exit).toEqual({ code: 0, signal: null });
    server = await server.restart();
    const { body: stored } = await call(server, 'GET', '/v1/push-tokens', login);
    expect(stored['tokens']).toMatchObject([{ token: 'slow' }]);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)(
    'exits on %s although a client does not answer',
    async (signal) => {
      const { token } = await logIn(server);
      const socket = openSocket(server.port, '127.0.0.1');
      socket.write(
        'GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\n' +
          'upgrade: websocket\r\nsec-websocket-version: 13\r\n' +
          'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
      );
      await once(socket, 'data');
      const packet = Buffer.from(`40${JSON.stringify({ token })}`);
      socket.write(
        Buffer.concat([Buffer.from([0x81, 0xfe, 0, packet.length, 0, 0, 0, 0]), packet]),
      );
      await once(socket, 'data');
      expect(await server.kill(signal)).toEqual({ code: 0, signal: null });
      socket.destroy();
    },
  );

  it('exits at once on a second signal', async () => {
    const login = await logIn(server);
    const socket = await beginPost(login, 10);
    socket.on('error', () => undefined);
    const exits: Promise<Exit>[] = [server.kill('SIGTERM')];
    await untilDraining();
    exits.push(server.kill('SIGINT'));
    expect(await Promise.all(exits)).toEqual([
      { code: 1, signal: null },
      { code: 1, signal: null },
    ]);
    socket.destroy();
  });
});
