import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { call, expectErrorShape, logIn, type Answer } from '../../helpers/client.js';
import { RawWebSocket, upgrade } from '../../helpers/raw-websocket.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../helpers/wait.js';

const METRICS_TOKEN = 'a-metrics-token-of-the-spec';
const WAITING = 4;
const CLIENTS = 60;
/** The longest time in seconds after which a refused client returns. */
const LONGEST = 15;

const env = {
  SERVICE_UPDATES_MAX_WAITING_HANDSHAKES: String(WAITING),
  METRICS_TOKEN,
};
const server = await startServer({ env });
const tokens = await Promise.all(
  Array.from({ length: CLIENTS }, async () => (await logIn(server)).token),
);
const locker = new Client({ connectionString: server.databaseUrl ?? '' });
await locker.connect();
afterAll(async () => {
  await locker.end();
  await server.stop();
});

describe('many simultaneous connections (PostgreSQL only: its answers are delayed)', () => {
  it('limits connections in progress, sends the time to reconnect, and admits all in the end', async () => {
    const opened = await Promise.all(tokens.map(() => openedSocket(server)));
    await locker.query('BEGIN; LOCK TABLE "session" IN ACCESS EXCLUSIVE MODE');
    opened.forEach((socket, index) => socket.send(`40${JSON.stringify({ token: tokens[index] })}`));
    // A connection that is not processed within 3 s of its opening is closed.
    const refused = await Promise.all(opened.map((socket) => refusalOf(socket).catch(() => null)));
    expect(refused.some((refusal) => refusal !== null)).toBe(true);
    for (const { message, data } of refused.filter((refusal) => refusal !== null)) {
      expect({ message, data }).toMatchObject({
        message: 'unavailable',
        data: { statusCode: 503, code: 'unavailable', requestId: expect.any(String) },
      });
      expectInRange(data.retryAfterSeconds);
    }
    expect((await call(server, 'GET', '/v1/features')).status).toBe(200);

    const answer = await refusedWhileBusy(server, tokens[0] ?? '');
    expectErrorShape(answer);
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expectInRange(Number(answer.headers['retry-after']));

    await locker.query('ROLLBACK');
    const joined = await Promise.all(tokens.map((token) => joinWhenAllowed(server, token)));
    expect(joined.filter(({ isOpen }) => isOpen)).toHaveLength(CLIENTS);
    joined.forEach((socket) => socket.destroy());
  });

  it('counts the connections that it refuses', async () => {
    const page = await call(server, 'GET', '/metrics', { token: METRICS_TOKEN });
    const count = /^gatehouse_handshakes_refused_total\{code="unavailable"\} (\d+)$/m.exec(
      page.text,
    );
    expect(Number(count?.[1])).toBeGreaterThan(0);
  });
});

interface ConnectRefusal {
  readonly message: string;
  readonly data: { readonly retryAfterSeconds: number };
}

function expectInRange(seconds: number): void {
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(LONGEST);
}

async function refusalOf(socket: RawWebSocket): Promise<ConnectRefusal> {
  return JSON.parse((await socket.message('44')).slice(2)) as ConnectRefusal;
}

function openedSocket(target: Server): Promise<RawWebSocket> {
  return waitFor('a WebSocket', async () => {
    const opened = await upgrade(target);
    return opened instanceof RawWebSocket ? opened : undefined;
  });
}

/** Opens connections that wait for storage, until the next is refused at its HTTP request. */
function refusedWhileBusy(target: Server, token: string): Promise<Answer> {
  return waitFor('a refused upgrade', async () => {
    const opened = await upgrade(target);
    if (opened instanceof RawWebSocket) {
      opened.send(`40${JSON.stringify({ token })}`);
      return undefined;
    }
    return opened;
  });
}

/** Joins as a client that waits for the time in each refusal. */
async function joinWhenAllowed(target: Server, token: string): Promise<RawWebSocket> {
  for (;;) {
    const opened = await upgrade(target);
    if (opened instanceof RawWebSocket) {
      opened.send(`40${JSON.stringify({ token })}`);
      const answer = await Promise.race([opened.message('42["hello"'), opened.message('44')]);
      if (answer.startsWith('42')) {
        return opened;
      }
      await sleep((await refusalOf(opened)).data.retryAfterSeconds * 1000);
    } else {
      await sleep(Number(opened.headers['retry-after']) * 1000);
    }
  }
}
