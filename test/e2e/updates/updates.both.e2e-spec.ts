import { io } from 'socket.io-client';
import { call, logIn, type Login, makeDeviceKey } from '../../helpers/client.js';
import {
  connect,
  type LiveClient,
  openTransport,
  refusedConnect,
} from '../../helpers/client-live.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../helpers/wait.js';

let login: Login;
const open: LiveClient[] = [];

const server = await startServer({
  env: {
    SERVICE_UPDATES_MAX_CONNECTIONS_PER_ACCOUNT: '10',
    // Otherwise a connection whose check takes a slow machine seconds is closed.
    AUTH_ACCESS_CACHE_SECONDS: '60',
  },
});

afterAll(() => server.stop());

beforeEach(async () => {
  login = await logIn(server);
});

afterEach(() => {
  open.splice(0).forEach((live) => live.close());
});

async function live(
  auth: Readonly<Record<string, unknown>> = { token: login.token },
  extraHeaders: Readonly<Record<string, string>> = {},
): Promise<LiveClient> {
  const client = await connect(server, auth, { extraHeaders });
  open.push(client);
  return client;
}

const save = (token = login.token, pushToken = 'x') =>
  call(server, 'POST', '/v1/push-tokens', { token, body: { token: pushToken } });

describe('a live connection', () => {
  it.each([
    {},
    { clientType: 'user-scoped' },
    { clientType: 'session-scoped', sessionId: 's1' },
    { clientType: 'machine-scoped', machineId: 'm1' },
    { clientType: 'user-scoped', sessionId: 7, future: { x: 1 } },
  ])('opens as %j and receives the last number of the account', async (scope) => {
    const client = await live({ token: login.token, ...scope });
    expect(await client.next('hello')).toEqual({ accountId: login.accountId, seq: 0 });
  });

  it('closes with its socket, so that no connection leaks', async () => {
    const options = { path: '/v1/updates', transports: ['websocket'], forceNew: true };
    const socket = io(server.url, {
      ...options,
      auth: { token: login.token },
      reconnection: false,
    });
    await new Promise((done) => socket.once('hello', done));
    const closed = new Promise((done) => socket.io.engine.once('close', done));
    // The client of Socket.IO also closes the connection.
    socket.io.engine.write('1');
    expect(await closed).toBe('transport close');
  });

  it('accepts the bearer header, and prefers the token of the handshake', async () => {
    const client = await live({}, { authorization: `Bearer ${login.token}` });
    expect(await client.next('hello')).toMatchObject({ accountId: login.accountId });
    const error = await refusedConnect(
      server,
      { token: 'x' },
      { extraHeaders: { authorization: `Bearer ${login.token}` } },
    );
    expect(error.message).toBe('invalid-token');
  });

  it.each<[string, Record<string, unknown>, string, number]>([
    ['no token', {}, 'missing-token', 401],
    ['an empty token', { token: '' }, 'missing-token', 401],
    ['a token that is no text', { token: { x: 1 } }, 'missing-token', 401],
    ['nonsense', { token: 'a.b.c' }, 'invalid-token', 401],
  ])('is refused with %s', async (_name, auth, code, statusCode) => {
    const { message, data } = await refusedConnect(server, auth);
    expect(message).toBe(code);
    expect(data).toEqual({
      statusCode,
      code,
      error: code,
      message: expect.stringMatching(/./),
      requestId: expect.stringMatching(/./),
    });
  });

  it('is refused with a token that was logged out', async () => {
    await call(server, 'POST', '/v1/auth/logout', login);
    const { message, data } = await refusedConnect(server, { token: login.token });
    expect({ message, code: data?.['code'] }).toEqual({
      message: 'token-revoked',
      code: 'token-revoked',
    });
  });

  it.each([
    { clientType: 'session-scoped' },
    { clientType: 'session-scoped', machineId: 'm' },
    { clientType: 'session-scoped', sessionId: '' },
    { clientType: 'session-scoped', sessionId: 'x'.repeat(257) },
    { clientType: 'machine-scoped' },
    { clientType: 'machine-scoped', sessionId: 's' },
    { clientType: 'machine-scoped', machineId: {} },
    { clientType: 'admin' },
    { clientType: null },
    { clientType: '__proto__' },
  ])('is refused with an incomplete scope (case %#)', async (scope) => {
    const { message, data } = await refusedConnect(server, { token: login.token, ...scope });
    expect(message).toBe('invalid-request');
    expect(data).toMatchObject({
      statusCode: 400,
      details: [{ path: expect.any(String), message: expect.any(String) }],
    });
    expect(Object.keys((data?.['details'] as object[] | undefined)?.[0] ?? {}).sort()).toEqual([
      'message',
      'path',
    ]);
  });

  it('carries the request id of the handshake into the refusal', async () => {
    const { data } = await refusedConnect(
      server,
      {},
      { extraHeaders: { 'x-request-id': 'abc-7' } },
    );
    expect(data?.['requestId']).toBe('abc-7');
  });

  it('exists at most 5 times for one session, and a closed one frees its place', async () => {
    const clients = [];
    for (let count = 0; count < 5; count += 1) {
      clients.push(await live());
    }
    const { message, data } = await refusedConnect(server, { token: login.token });
    expect(message).toBe('rate-limited');
    expect(data?.['statusCode']).toBe(429);
    clients[0]?.close();
    await waitFor('a place is free', () =>
      live().then(
        () => true,
        () => false,
      ),
    );
  });

  it('leaves half of the connections of an account to its other sessions', async () => {
    const key = makeDeviceKey();
    const [thief, owner, third] = [
      await logIn(server, key),
      await logIn(server, key),
      await logIn(server, key),
    ];
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => live({ token: thief.token })),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    for (let count = 0; count < 5; count += 1) {
      await live({ token: owner.token });
    }
    const { message } = await refusedConnect(server, { token: third.token });
    expect(message).toBe('rate-limited');
  });

  it('stays within the limit when 20 come simultaneously', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => live()));
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(5);
  });

  it('answers a ping', async () => {
    const { socket } = await live();
    expect(await socket.emitWithAck('ping')).toEqual({});
    expect(await socket.emitWithAck('ping', { x: 1 }, 'y')).toEqual({});
  });

  it('ignores unknown events', async () => {
    const { socket } = await live();
    socket.emit('ping');
    socket.emit('update', { id: 'forged', seq: 99, body: { t: 'x' } });
    socket.emit('access-changed', { accountId: login.accountId, closes: 'token-revoked' });
    socket.emit('__proto__', 1);
    socket.emit('nothing', Buffer.from([1, 2, 3]));
    expect(await socket.emitWithAck('ping')).toEqual({});
  });
});

describe('an update', () => {
  it('reaches every client of the account, and no other, with seq growing by one', async () => {
    const clients = [
      await live(),
      await live({ token: login.token, clientType: 'session-scoped', sessionId: 's' }),
    ];
    const stranger = await live({ token: (await logIn(server)).token });
    await Promise.all([...clients, stranger].map((client) => client.next('hello')));
    const before = Date.now();
    await save(login.token, 'a');
    await save(login.token, 'b');
    await call(server, 'DELETE', '/v1/push-tokens/a', login);
    for (const client of clients) {
      for (const seq of [1, 2, 3]) {
        const update = await client.next('update');
        expect(update).toEqual({
          id: expect.any(String),
          seq,
          createdAt: expect.any(Number),
          body: { t: 'push-tokens-changed' },
        });
        expect(update['createdAt']).toBeGreaterThanOrEqual(before);
      }
    }
    expect(stranger.waiting('update')).toBe(0);
  });

  it('is not sent when nothing was removed', async () => {
    const client = await live();
    await client.next('hello');
    await call(server, 'DELETE', '/v1/push-tokens/never', login);
    await save();
    expect(await client.next('update')).toMatchObject({ seq: 1 });
  });

  it('has no gap and no duplicate when 40 changes come simultaneously', async () => {
    const client = await live();
    await client.next('hello');
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_value, index) => save(login.token, `t${index}`)),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(40).fill(200));
    const seqs = [];
    for (let count = 0; count < 40; count += 1) {
      seqs.push(Number((await client.next('update'))['seq']));
    }
    expect(seqs.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_value, i) => i + 1));
  });

  it('shows in the hello of the next connection when it was missed', async () => {
    await save();
    await save();
    const client = await live();
    expect(await client.next('hello')).toEqual({ accountId: login.accountId, seq: 2 });
  });
});

describe('logging out', () => {
  it('sends closing, then ends the connections of that token only', async () => {
    const key = makeDeviceKey();
    const [one, two] = [await logIn(server, key), await logIn(server, key)];
    const [leaving, staying] = [await live({ token: one.token }), await live({ token: two.token })];
    const order: string[] = [];
    leaving.socket.on('closing', () => order.push('closing'));
    leaving.socket.on('disconnect', () => order.push('disconnect'));
    await call(server, 'POST', '/v1/auth/logout', one);
    expect(await leaving.next('closing')).toMatchObject({
      statusCode: 401,
      code: 'token-revoked',
      error: 'token-revoked',
      message: expect.any(String),
    });
    expect(await leaving.disconnected).toBe('io server disconnect');
    expect(order).toEqual(['closing', 'disconnect']);
    await save(two.token);
    expect(await staying.next('update')).toMatchObject({ seq: 1 });
  });

  it('closes all connections with logout-everywhere', async () => {
    const key = makeDeviceKey();
    const [one, two] = [await logIn(server, key), await logIn(server, key)];
    const clients = [await live({ token: one.token }), await live({ token: two.token })];
    await call(server, 'POST', '/v1/auth/logout-everywhere', two);
    for (const client of clients) {
      expect(await client.next('closing')).toMatchObject({ code: 'token-revoked' });
      await client.disconnected;
    }
  });

  it('closes connections that are made at the same moment', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { token } = await logIn(server);
      const arriving = Array.from({ length: 4 }, () => connect(server, { token }));
      await call(server, 'POST', '/v1/auth/logout', { token });
      const outcomes = await Promise.allSettled(arriving);
      const inside = outcomes.flatMap((o) => (o.status === 'fulfilled' ? [o.value] : []));
      open.push(...inside);
      await Promise.all(inside.map((client) => client.disconnected));
    }
  });
});

describe('the transport', () => {
  it('disconnects a client that sends more than 16 KiB, and serves the others', async () => {
    const [large, other] = [await live(), await live()];
    large.socket.emit('ping', 'x'.repeat(20_000));
    expect(await large.disconnected).toMatch(/transport/);
    expect(await other.socket.emitWithAck('ping')).toEqual({});
  });

  it('ignores a client that has not authenticated, and disconnects it', async () => {
    const transport = await openTransport(server);
    // An event, and one that expects an acknowledgement, arrive before the CONNECT packet.
    transport.send('2["ping",{}]');
    transport.send('21["ping",{}]');
    await transport.closed;
    expect(transport.frames).toEqual([]);
  });

  it.each([
    '',
    '{',
    '0{',
    '0[]',
    '0null',
    '999',
    '51-["x",{"_placeholder":true,"num":9}]',
    '0/a,{}',
  ])('survives the packet %j', async (packet) => {
    const transport = await openTransport(server);
    transport.send(packet);
    transport.send(packet);
    await new Promise((done) => setTimeout(done, 50));
    transport.close();
    const client = await live();
    expect(await client.next('hello')).toMatchObject({ accountId: login.accountId });
  });
});
