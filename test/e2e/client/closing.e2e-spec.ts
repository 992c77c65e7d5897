import { createServer, type Server as HttpServer } from 'node:http';
import { Server as SocketServer } from 'socket.io';
import { connectUpdates } from '../../../src/packages/client/updates/connect-updates.js';
import { listen as bind } from '../../helpers/local-server.js';
import { closeAll, listen } from './client-listener.js';

describe('connectUpdates, when a server closes or refuses a connection', () => {
  const problem = (statusCode: number, code: string, retryAfterSeconds?: number) => ({
    ...{ statusCode, code, error: code, message: code },
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });
  let http: HttpServer;
  let sockets: SocketServer;
  let handshakes: number;
  let serverUrl: string;

  beforeEach(async () => {
    handshakes = 0;
    http = createServer();
    sockets = new SocketServer(http, { path: '/base/v1/updates' });
    serverUrl = `http://127.0.0.1:${await bind(http)}/base`;
  });

  afterEach(async () => {
    closeAll();
    await sockets.close();
  });

  /** Defines the behaviour of the server at each handshake, in turn; the last one is repeated. */
  function script(...steps: ((live: { emit(name: string, fact: object): void }) => void)[]): void {
    sockets.on('connection', (socket) => {
      steps[Math.min(handshakes, steps.length) - 1]?.(socket);
    });
    sockets.use((_socket, next) => {
      handshakes += 1;
      next();
    });
  }

  const hello = { accountId: 'a', seq: 0 };

  it('waits at least as long as `closing` requests, and reconnects', async () => {
    script(
      (live) => {
        live.emit('hello', hello);
        live.emit('closing', problem(503, 'unavailable', 1));
        sockets.disconnectSockets(true);
      },
      (live) => live.emit('hello', hello),
    );
    const listener = listen({ serverUrl, token: 't' });
    const [reason, delay] = (await listener.next('waiting')) as [{ code: string }, number];
    expect(reason.code).toBe('unavailable');
    expect(delay).toBeGreaterThanOrEqual(1000);
    expect(delay).toBeLessThanOrEqual(1500);
    await listener.next('connected');
    await listener.next('connected');
    expect(handshakes).toBe(2);
  });

  it('waits at least as long as the answer to the HTTP request requests', async () => {
    const body = JSON.stringify(problem(503, 'unavailable', 7));
    const busy = createServer((_request, answer) => answer.writeHead(503).end(body));
    busy.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 503 Busy\r\n\r\n'));
    const port = await bind(busy);
    const listener = listen({ serverUrl: `http://127.0.0.1:${port}`, token: 't' });
    const [reason, delay] = (await listener.next('waiting')) as [{ code: string }, number];
    busy.close();
    expect(reason.code).toBe('unavailable');
    expect(delay).toBeGreaterThanOrEqual(7000);
    expect(delay).toBeLessThanOrEqual(10_500);
  });

  it('reconnects after a temporary refusal', async () => {
    sockets.use((_socket, next) => {
      handshakes += 1;
      const data = problem(429, 'rate-limited', 0);
      next(handshakes < 3 ? Object.assign(new Error('rate-limited'), { data }) : undefined);
    });
    sockets.on('connection', (socket) => socket.emit('hello', hello));
    const listener = listen({ serverUrl, token: 't' });
    expect(await listener.next('connected')).toEqual(hello);
    expect(listener.events.map(([name]) => name)).toEqual(['waiting', 'waiting', 'connected']);
  });

  it.each([
    [401, 'token-revoked'],
    [403, 'not-eligible'],
  ])('stops where `closing` has %i %s', async (statusCode, code) => {
    script((live) => {
      live.emit('closing', problem(statusCode, code));
      sockets.disconnectSockets(true);
    });
    const listener = listen({ serverUrl, token: 't' });
    expect(await listener.next('stopped')).toMatchObject({ status: statusCode, code });
    expect(handshakes).toBe(1);
  });

  it('calls no handler after a handler closed the connection', async () => {
    script((live) => live.emit('hello', { ...hello, seq: 7 }));
    const called: string[] = [];
    await new Promise<void>((connected) => {
      const connection = connectUpdates(
        { serverUrl, token: 't', lastSeq: 3 },
        {
          onConnected: () => {
            called.push('connected');
            connection.close();
            connected();
          },
          onGap: () => called.push('gap'),
        },
      );
    });
    expect(called).toEqual(['connected']);
  });
});
