import { createServer, request, type IncomingMessage, type Server } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Server as SocketServer, type Socket } from 'socket.io';
import { io, type Socket as ClientSocket } from 'socket.io-client';
import { GuardFixture } from '../../../../test/fixtures/guard-fixture.js';
import { answerTo, closeServer, listen } from '../../../../test/helpers/local-server.js';
import { upgrade as openUpgrade, RawWebSocket } from '../../../../test/helpers/raw-websocket.js';
import { waitFor } from '../../../../test/helpers/wait.js';
import { Random } from '../../../common/runtime/random.js';
import { AccessRefused } from '../access-refused.js';
import type { Guard } from '../guard.js';
import { accessOf } from './credentials.js';
import { EngineSession } from './engine-sessions.js';
import { engineTargetOf } from './engine-target.js';

const POLLING = '/chat/?EIO=4&transport=polling';
const WEBSOCKET = '/chat/?EIO=4&transport=websocket';
const PING = { pingInterval: 20_000, pingTimeout: 10_000 };

let fixture: GuardFixture;
let guard: Guard;
let server: Server;
let port: number;
let sockets: SocketServer;
/** Sockets that the application got, and what they sent. */
let joined: Socket[];
let heard: unknown[];
beforeEach(async () => {
  fixture = await GuardFixture.start();
  guard = await fixture.readyGuard();
  [joined, heard] = [[], []];
  server = createServer((_incoming, response) => response.end('app'));
  guard.upgrade(server);
  sockets = new SocketServer(server, { path: '/chat', ...PING, allowEIO3: true });
  sockets.on('connection', (socket) => {
    joined.push(socket);
    socket.on('say', (words) => heard.push([accessOf(socket.request)?.account, words]));
  });
  port = await listen(server);
});
afterEach(async () => {
  // Otherwise the engine waits for half a minute for the next poll of each session.
  sockets.engine.close();
  await sockets.close();
  await closeServer(server);
  await fixture.close();
});

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function ask(path: string, token: string | null, body?: string): Promise<Answer> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const method = body === undefined ? 'GET' : 'POST';
  const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false });
  return answerTo(sent, body);
}

/** Begins an engine session by long polling. @returns its address, with its id */
async function handshake(token: string, path = POLLING): Promise<string> {
  const { status, text: packet } = await ask(path, token);
  expect(status).toBe(200);
  const { sid } = JSON.parse(/\{.*\}/.exec(packet)?.[0] ?? '{}') as { readonly sid?: string };
  return `${path}&sid=${sid}`;
}

/** Joins the namespace of the application over long polling. */
async function join(address: string, token: string): Promise<void> {
  expect(await ask(address, token, '40')).toMatchObject({ status: 200 });
  expect((await ask(address, token)).text).toMatch(/^40\{/);
}

async function upgrade(address: string, token: string): Promise<RawWebSocket | number> {
  const path = address.replace('polling', 'websocket');
  const headers = { authorization: `Bearer ${token}` };
  const opened = await openUpgrade({ port }, { path, headers });
  return opened instanceof RawWebSocket ? opened : opened.status;
}

/** Moves an engine session to a WebSocket. */
async function moveToWebSocket(address: string, token: string): Promise<RawWebSocket> {
  const socket = await upgrade(address, token);
  if (!(socket instanceof RawWebSocket)) {
    throw new Error(`The upgrade was refused: ${socket}`);
  }
  socket.send('2probe');
  await socket.message('3probe');
  socket.send('5');
  return socket;
}

/** True while the engine can answer a poll of the first socket. */
const hasOpenPoll = (): boolean => joined[0]?.conn.transport.writable === true;

const tokens = (...sids: string[]): Promise<string[]> =>
  Promise.all(sids.map((sid) => fixture.issuer.token({ sid, account: sid })));

describe('a target', () => {
  const sendRaw = async (line: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`${line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    return text(socket);
  };

  it.each([
    `${POLLING}#`,
    `${POLLING}#x`,
    '/chat/?EIO=4#&transport=polling',
    `${WEBSOCKET}#`,
    '/chat/#?EIO=4&transport=polling',
    '/#',
    '//',
    '//?EIO=4&transport=polling',
  ])('refuses a target that programs read in different ways: %j', async (path) => {
    expect(await sendRaw(`GET ${path}`)).toMatch(/^HTTP\/1\.1 400 [^]*"code":"invalid-request"/);
    const [token = ''] = await tokens('ada');
    expect(await upgrade(path, token)).toBe(400);
    expect(guard.heldCount).toBe(0);
  });

  it.each([
    POLLING,
    '/chat/?EIO=4&trans\tport=polling&si\td=a',
    '/chat/?EIO=4&tr%61nsport=poll%69ng&sid=%61',
    '/chat/?&&transport=polling&=&sid=a+b%20c',
    '/chat/?transport=polling&sid=a?b=c',
    '/chat\\?transport=polling&sid=a\\b',
    '/chat/%00?transport=polling&sid=%ff',
    'http://other.example/chat/?transport=polling&sid=a',
  ])('reads %j as the engine does', (url) => {
    const read = engineTargetOf(guard, { url, headers: {} });
    const incoming = { url } as { readonly _query?: Readonly<Record<string, string>> };
    (sockets.engine as unknown as { prepare(one: object): void }).prepare(incoming);
    const { transport = null, sid = null } = incoming._query ?? {};
    expect(read).toMatchObject({ transport, sid });
    expect(transport).toBe('polling');
  });

  it.each([
    '/chat/?EIO=4&transport=polling&transport=polling',
    '/chat/?EIO=4&transport=x&transport=polling',
    '/chat/?EIO=4&transport=polling&sid=a&sid=b',
    '/chat/?EIO=4&transport=polling&s%69d=a&sid=',
  ])('refuses a target that repeats a parameter: %s', async (path) => {
    const [token = ''] = await tokens('ada');
    expect((await ask(path, token)).status).toBe(400);
    expect(await upgrade(path, token)).toBe(400);
  });
});

describe(EngineSession.name, () => {
  it('goes on by long polling, and with a new token of its session', async () => {
    const [token = ''] = await tokens('ada');
    const address = await handshake(token);
    await join(address, token);
    const renewed = await fixture.issuer.token({ sid: 'ada', account: 'ada' });
    expect(await ask(address, renewed, '42["say","hello"]')).toMatchObject({ status: 200 });
    expect(heard).toEqual([['ada', 'hello']]);
    expect(guard.heldCount).toBe(1);
  });

  it.each([
    ['another session', { sid: 'bob', account: 'bob' }],
    ['another session of the same account', { sid: 'ada-2', account: 'ada' }],
    ['another account', { sid: 'ada', account: 'bob' }],
  ])('refuses the token of %s to poll, to send and to upgrade', async (_what, session) => {
    const [token = ''] = await tokens('ada');
    const address = await handshake(token);
    await join(address, token);
    const other = await fixture.issuer.token(session);
    expect((await ask(address, other)).text).toContain('"code":"invalid-token"');
    expect((await ask(address, other, '42["say","no"]')).status).toBe(401);
    expect(await upgrade(address, other)).toBe(401);
    expect([heard, guard.heldCount]).toEqual([[], 1]);
  });

  it('refuses requests without a token', async () => {
    const [token = ''] = await tokens('ada');
    const address = await handshake(token);
    expect((await ask(address, null)).status).toBe(401);
    expect((await ask(address, null, '40')).status).toBe(401);
    expect(await upgrade(address, 'x')).toBe(401);
  });

  it.each([`${POLLING}&sid=unknown`, `${WEBSOCKET}&sid=unknown`])(
    'refuses %s as not known',
    async (path) => {
      const [token = ''] = await tokens('ada');
      expect((await ask(path, token)).status).toBe(400);
      expect((await ask(path, token, '40')).status).toBe(400);
      expect(await upgrade(path, token)).toBe(400);
    },
  );

  it('is known under the path of its handshake alone', async () => {
    const [token = ''] = await tokens('ada');
    const address = await handshake(token);
    expect((await ask(address.replace('/chat/', '/chat/x'), token)).status).toBe(400);
    expect((await ask(address, token, '40')).status).toBe(200);
  });

  it('refuses a second WebSocket to a session that began with one', async () => {
    const [ada = '', bob = ''] = await tokens('ada', 'bob');
    const first = await upgrade(WEBSOCKET, ada);
    if (!(first instanceof RawWebSocket)) {
      throw new Error('The handshake was refused.');
    }
    const packet = await first.message('0');
    const { sid } = JSON.parse(packet.slice(1)) as { readonly sid: string };
    expect(await upgrade(`${WEBSOCKET}&sid=${sid}`, bob)).toBe(400);
    expect(await upgrade(`${WEBSOCKET}&sid=${sid}`, ada)).toBe(400);
    first.destroy();
  });

  it('keeps the access of its handshake over an upgrade, and ends with it', async () => {
    const [token = ''] = await tokens('ada');
    const address = await handshake(token);
    await join(address, token);
    const renewed = await fixture.issuer.token({ sid: 'ada', account: 'ada', login: 'renewed' });
    const socket = await moveToWebSocket(address, renewed);
    socket.send('42["say","hello"]');
    await waitFor('the message', () => heard.length > 0);
    expect(accessOf(joined[0]?.request as IncomingMessage)).toMatchObject({ login: null });
    expect([heard, guard.heldCount]).toEqual([[['ada', 'hello']], 1]);
    await fixture.issuer.endSession('ada');
    await socket.closed;
    await waitFor('the application notices it', () => joined[0]?.connected === false);
    expect(guard.heldCount).toBe(0);
  });

  it('ends an open poll with its access, and refuses the next ones', async () => {
    const [token = ''] = await tokens('ada');
    const address = await handshake(token);
    await join(address, token);
    const poll = ask(address, token).catch((error: NodeJS.ErrnoException) => error.code);
    await waitFor('the poll arrives', hasOpenPoll);
    await fixture.issuer.endSession('ada');
    expect(await poll).toBe('ECONNRESET');
    await waitFor('the application notices it', () => joined[0]?.connected === false);
    expect((await ask(address, token, '42["say","no"]')).status).toBe(401);
    const [bob = ''] = await tokens('bob');
    expect((await ask(address, bob, '42["say","no"]')).status).toBe(400);
    expect([heard, guard.heldCount]).toEqual([[], 0]);
  });

  /** Sends a message every ten seconds. @returns the statuses */
  async function sendFor(seconds: number, address: string, token: string): Promise<Set<number>> {
    const statuses = new Set<number>();
    for (let passed = 0; passed < seconds; passed += 10) {
      await fixture.time.advance(10_000);
      await fixture.isWaiting();
      statuses.add((await ask(address, token, '42["say","hello"]')).status);
    }
    return statuses;
  }

  it('accepts the token of its handshake after its end, and no other old one', async () => {
    const [token = ''] = await tokens('ada');
    const other = await fixture.issuer.token({ sid: 'ada', account: 'ada', email: 'x' });
    const address = await handshake(token);
    await join(address, token);
    expect(await sendFor(400, address, token)).toEqual(new Set([200]));
    expect(heard).toHaveLength(40);
    expect((await ask(address, other)).text).toContain('"code":"token-expired"');
    expect((await ask(POLLING, token)).text).toContain('"code":"token-expired"');
    const socket = await moveToWebSocket(address, token);
    socket.destroy();
  });

  it('ends all of its parts, also if one cannot be ended', async () => {
    const [token = ''] = await tokens('ada');
    const { clock, timers } = fixture;
    const runtime = { clock, timers, random: new Random() };
    const session = new EngineSession(guard, runtime, await guard.verify(token), token);
    const ended: number[] = [];
    [1, 2, 3].forEach((part) =>
      session.add(
        () => undefined,
        () => {
          ended.push(part);
          throw new RangeError('x');
        },
      ),
    );
    await fixture.issuer.endSession('ada');
    await waitFor('the end', () => ended.length === 3);
    expect([ended, fixture.logged.at(-1)?.reason]).toEqual([[1, 2, 3], 'RangeError']);
  });

  it('takes no request that was admitted just before its end', async () => {
    const [token = ''] = await tokens('ada');
    const { clock, timers } = fixture;
    const runtime = { clock, timers, random: new Random() };
    const session = new EngineSession(guard, runtime, await guard.verify(token), token);
    await fixture.issuer.endSession('ada');
    await waitFor('the end', () => session.isOver);
    const add = (): void =>
      session.add(
        () => undefined,
        () => undefined,
      );
    expect(add).toThrow(AccessRefused);
  });

  it('refuses the old token of its handshake after the lease', async () => {
    const [token = ''] = await tokens('ada');
    const address = await handshake(token);
    await join(address, token);
    await sendFor(310, address, token);
    fixture.clock.monotonicOffsetMs = 31_000;
    expect((await ask(address, token)).text).toContain('"code":"guard-lease-expired"');
  });

  it('is released once the engine has given it up', async () => {
    const [token = ''] = await tokens('ada');
    const address = await handshake(token);
    await join(address, token);
    await fixture.time.advance(39_999);
    expect(guard.heldCount).toBe(1);
    await fixture.time.advance(1);
    expect(guard.heldCount).toBe(0);
    expect((await ask(address, token)).status).toBe(400);
  });

  it('is kept while a request is open', async () => {
    const [token = ''] = await tokens('ada');
    const address = await handshake(token);
    await join(address, token);
    const poll = ask(address, token);
    await waitFor('the poll arrives', hasOpenPoll);
    for (let passed = 0; passed < 100; passed += 10) {
      await fixture.time.advance(10_000);
      await fixture.isWaiting();
    }
    joined[0]?.emit('news');
    expect((await poll).text).toBe('42["news"]');
    expect(guard.heldCount).toBe(1);
  });

  it.each([
    '/chat/?EIO=4&transport=polling&sid=',
    '/chat/?EIO=4&transport=polling&t=x',
    '/chat/x?EIO=4&transport=polling',
  ])('begins with %s, as the engine lets it', async (path) => {
    const [token = '', bob = ''] = await tokens('ada', 'bob');
    const address = (await handshake(token, path)).replace('&sid=&', '&');
    expect((await ask(address, token, '40')).status).toBe(200);
    expect((await ask(address, bob, '40')).status).toBe(401);
  });

  it('goes on where the engine compresses its first response', async () => {
    sockets.engine.opts.httpCompression = { threshold: 0 };
    const [token = ''] = await tokens('ada');
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'gzip' };
    const sent = request({ port, host: '127.0.0.1', path: POLLING, headers, agent: false });
    const { sid } = JSON.parse((await answerTo(sent)).text.slice(1)) as { readonly sid: string };
    expect((await ask(`${POLLING}&sid=${sid}`, token, '40')).status).toBe(200);
  });

  it('goes on in the third revision of the protocol', async () => {
    const [token = '', bob = ''] = await tokens('ada', 'bob');
    const address = await handshake(token, '/chat/?EIO=3&transport=polling');
    expect((await ask(address, token)).text).toContain('40');
    expect((await ask(address, bob)).status).toBe(401);
  });

  it('is not held if the engine refuses its handshake', async () => {
    sockets.engine.opts.allowRequest = (_request, done) => done('no', false);
    const [token = ''] = await tokens('ada');
    expect((await ask(POLLING, token)).status).toBe(403);
    await waitFor('the release', () => guard.heldCount === 0);
  });

  it('serves a client that begins with polling, until its access ends', async () => {
    const [token = ''] = await tokens('ada');
    const client: ClientSocket = io(`http://127.0.0.1:${port}`, {
      path: '/chat',
      forceNew: true,
      reconnection: false,
      extraHeaders: { authorization: `Bearer ${token}` },
    });
    await waitFor('the upgrade', () => client.io.engine?.transport?.name === 'websocket');
    client.emit('say', 'hello');
    await waitFor('the message', () => heard.length > 0);
    expect([heard, guard.heldCount]).toEqual([[['ada', 'hello']], 1]);
    await fixture.issuer.endSession('ada');
    await waitFor('the client is disconnected', () => client.disconnected);
    await waitFor('the application notices it', () => joined[0]?.connected === false);
  });
});
