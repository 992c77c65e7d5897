import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, logIn } from '../../helpers/client.js';
import { openWebSocket, type RawWebSocket } from '../../helpers/raw-websocket.js';
import { OWN_PROCESS, startServer } from '../../fixtures/programs/server-fixture.js';

const OF_ONE_ADDRESS = 20;
const OF_ALL = 40;
const TEXT = 1;
const BINARY = 2;
const PING = 9;
const PONG = 10;
/** The flood is five times the burst that one connection may send. */
const FLOOD = 500;
const FLOODS = 100;
/** Takes far longer than the 4 s after which the server disconnects a client that reads nothing. */
const MAX_WRITES = 1000;
const MEGABYTE = 1024 * 1024;

const open: RawWebSocket[] = [];

const server = await startServer({
  host: OWN_PROCESS,
  env: {
    SERVICE_TRUSTED_PROXIES: '127.0.0.1',
    SERVICE_UPDATES_TRANSPORTS: 'websocket,polling',
    SERVICE_UPDATES_MAX_CONNECTIONS: '10',
    SERVICE_UPDATES_MAX_UNAUTHENTICATED: String(OF_ALL),
    SERVICE_UPDATES_MAX_UNAUTHENTICATED_PER_IP: String(OF_ONE_ADDRESS),
  },
});
const { token } = await logIn(server);

afterAll(() => server.stop());

afterEach(async () => {
  open.splice(0).forEach((socket) => socket.destroy());
  // The server serves other clients, and has removed those that left.
  const other = await joined();
  other.send('421["ping"]');
  expect(await other.message('431')).toBe('431[{}]');
  open.splice(0).forEach((socket) => socket.destroy());
});

async function silent(address: string): Promise<RawWebSocket> {
  const socket = await openWebSocket(server, { 'x-forwarded-for': address });
  open.push(socket);
  return socket;
}

async function silentOnes(count: number, addressOf: (index: number) => string) {
  const sockets = [];
  for (let index = 0; index < count; index += 1) {
    sockets.push(await silent(addressOf(index)));
  }
  return sockets;
}

async function joined(address = '192.0.2.1'): Promise<RawWebSocket> {
  const socket = await silent(address);
  await socket.join(token);
  return socket;
}

const closing = (sockets: readonly RawWebSocket[]): Promise<unknown> =>
  Promise.all(sockets.map(({ closed }) => closed));

const refusalIn = (packet: string): unknown => JSON.parse(packet.replace(/^4[24][^[{]*/, ''));

describe('connections that have not authenticated', () => {
  it('admits a person behind an address with many unauthenticated connections', async () => {
    const strangers = await silentOnes(60, () => '198.51.100.1');
    const person = await joined('198.51.100.1');
    await closing(strangers.slice(0, 60 - OF_ONE_ADDRESS));
    expect(person.isOpen).toBe(true);
  });

  it('admits a person while many addresses have unauthenticated connections', async () => {
    const strangers = await silentOnes(60, (index) => `198.51.100.${index}`);
    const person = await joined();
    await closing(strangers.slice(0, 60 - OF_ALL));
    expect(person.isOpen).toBe(true);
  });

  it('keeps the connections of other addresses when an IPv6 network opens too many', async () => {
    const others = await silentOnes(OF_ONE_ADDRESS, () => '198.51.100.1');
    await silentOnes(60, (index) => `2001:db8::${index}`);
    await closing(others);
    // The connections timed out, and were not closed for another one.
    expect(others.every(({ isClosedInOrder }) => isClosedInOrder)).toBe(true);
  });

  it('closes connections that never authenticate, and frees their place', async () => {
    const first = await silentOnes(OF_ONE_ADDRESS, () => '198.51.100.1');
    await closing(first);
    const second = await silentOnes(OF_ONE_ADDRESS, () => '198.51.100.1');
    await closing(second);
    const inOrder = [...first, ...second].filter(({ isClosedInOrder }) => isClosedInOrder);
    expect(inOrder).toHaveLength(2 * OF_ONE_ADDRESS);
  });

  it('closes polling connections that never authenticate', async () => {
    const path = '/v1/updates/?EIO=4&transport=polling';
    const { sid } = JSON.parse((await call(server, 'GET', path)).text.slice(1)) as { sid: string };
    // Packet 1 closes, and packet 6 makes a proxy stop waiting.
    expect((await call(server, 'GET', `${path}&sid=${sid}`)).text).toMatch(/^[16]/);
  });

  it('does not limit connections that have authenticated', async () => {
    const people = [await joined(), await joined(), await joined()];
    await silentOnes(60, () => '192.0.2.1');
    for (const person of people) {
      person.send('421["ping"]');
      expect(await person.message('431')).toBe('431[{}]');
    }
  });
});

describe('one WebSocket', () => {
  it('carries one connection, however many CONNECT packets come at once', async () => {
    const socket = await silent('192.0.2.1');
    socket.send(...Array<string>(50).fill(`40${JSON.stringify({ token })}`));
    const refusal = await socket.message('44');
    await socket.closed;
    expect(refusalIn(refusal)).toMatchObject({
      message: 'invalid-request',
      data: { statusCode: 400, code: 'invalid-request', requestId: expect.any(String) },
    });
    expect(socket.texts.filter((text) => text.startsWith('40'))).toEqual([]);
  });

  it.each(['40', '40/other,', '40/,'])(
    'closes a connected WebSocket that sends %j',
    async (packet) => {
      const socket = await joined();
      socket.send(`${packet}${JSON.stringify({ token })}`);
      const reason = await socket.message('42["closing"');
      await socket.closed;
      expect(refusalIn(reason)).toEqual(['closing', expect.objectContaining({ statusCode: 400 })]);
    },
  );

  it.each<[string, number, string]>([
    ['a type that does not exist', TEXT, '49'],
    ['no JSON', TEXT, '42["ping"'],
    ['an event without a name', TEXT, '42{}'],
    ['bytes that belong to nothing', BINARY, 'bytes'],
    ['no packet of Engine.IO', TEXT, 'x'],
  ])('sends closing to a connected WebSocket that sends %s', async (_what, opcode, payload) => {
    const socket = await joined();
    await socket.flood(opcode, payload, 1);
    const reason = await socket.message('42["closing"');
    await socket.closed;
    expect(refusalIn(reason)).toEqual(['closing', expect.objectContaining({ statusCode: 400 })]);
  });

  it('keeps a connection that sends an event with the name "error"', async () => {
    const socket = await joined();
    socket.send('42["error","text"]', '421["ping"]');
    expect(await socket.message('431')).toBe('431[{}]');
  });

  it('refuses another namespace with the documented error shape', async () => {
    const socket = await silent('192.0.2.1');
    socket.send('40/other,{}', `40${JSON.stringify({ token })}`);
    const refusal = await socket.message('44/other,');
    await socket.closed;
    expect(refusalIn(refusal)).toMatchObject({ message: 'invalid-request' });
    expect(socket.texts.filter((text) => text.startsWith('40'))).toEqual([]);
  });

  it('closes a WebSocket after one refused token', async () => {
    const socket = await silent('192.0.2.1');
    socket.send('40{"token":"wrong"}');
    expect(refusalIn(await socket.message('44'))).toMatchObject({ message: 'invalid-token' });
    socket.send(`40${JSON.stringify({ token })}`);
    await socket.closed;
    expect(socket.texts.filter((text) => text.startsWith('40'))).toEqual([]);
  });
});

describe('a connection that sends too much', () => {
  it.each<[string, number, string]>([
    ['pings that want an answer', TEXT, '421["ping"]'],
    ['events that do not exist', TEXT, '42["nothing"]'],
    ['answers to nothing', TEXT, '430[]'],
    ['heartbeats', TEXT, '3'],
    ['packets that mean nothing', TEXT, '6'],
    ['ping frames of WebSocket', PING, ''],
    ['pong frames of WebSocket', PONG, ''],
  ])('closes a connection that sends too many %s', async (_what, opcode, payload) => {
    const socket = await joined();
    await socket.flood(opcode, payload, FLOOD);
    const reason = await socket.message('42["closing"');
    await socket.closed;
    expect(refusalIn(reason)).toEqual([
      'closing',
      expect.objectContaining({ statusCode: 429, code: 'rate-limited', retryAfterSeconds: 10 }),
    ]);
    expect(socket.isClosedInOrder).toBe(true);
  });

  it('closes a connection that sends too much before it has authenticated', async () => {
    const socket = await silent('192.0.2.1');
    await socket.flood(TEXT, '3', FLOOD);
    expect(refusalIn(await socket.message('44'))).toMatchObject({ message: 'rate-limited' });
    await socket.closed;
  });

  it('accepts 50 messages at once', async () => {
    const socket = await joined();
    await socket.flood(TEXT, '421["ping"]', 50);
    socket.send('422["ping"]');
    await socket.message('432');
    expect(socket.texts.filter((text) => text.startsWith('431'))).toHaveLength(50);
  });

  it.each<[string, number, string]>([
    ['pings', TEXT, '421["ping"]'],
    ['ping frames', PING, 'x'.repeat(125)],
  ])(
    'disconnects a client that sends much and reads nothing, without a memory cost: %s',
    async (_what, opcode, payload) => {
      const socket = await joined();
      const before = residentBytes();
      socket.stopReading();
      // A client that does not read detects the end by a write that fails.
      for (let writes = 0; writes < MAX_WRITES && socket.isOpen; writes += 1) {
        await socket.flood(opcode, payload, writes < FLOODS ? 10_000 : 1);
        await sleep(20);
      }
      expect(socket.isOpen).toBe(false);
      expect(residentBytes() - before).toBeLessThan(60 * MEGABYTE);
    },
  );
});

function residentBytes(): number {
  const status = readFileSync(`/proc/${server.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024;
}
