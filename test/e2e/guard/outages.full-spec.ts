import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Client } from 'pg';
import { WebSocket } from 'ws';
import { EventStreamFixture } from '../../fixtures/event-stream-fixture.js';
import { GuardedRelay } from '../../fixtures/guarded-relay-fixture.js';
import { startPostgres, startRedis } from '../../fixtures/programs/services-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { createPostgresStore } from '../../fixtures/programs/store-fixture.js';
import { backends, backendToken, resourceOf } from '../../fixtures/resource-server-fixture.js';
import { tokenOf } from '../../fixtures/sessions-fixture.js';
import { call, makeDeviceKey } from '../../helpers/client.js';
import { waitFor } from '../../helpers/wait.js';

const IS_LONG = process.env['GATEHOUSE_TEST_LONG'] === '1';
const [REVOCATIONS, KILLS] = IS_LONG ? [10_000, 10] : [60, 3];
const LEASE_MS = 30_000;
const MAX_STREAMS = 100;

const setup = backends([{ id: 'relay', maxTokenSeconds: 900 }]);

const [postgres, redis] = await Promise.all([startPostgres({ durable: true }), startRedis()]);
const store = await createPostgresStore(postgres.url);
const port = await freePort();
const issuer = `http://127.0.0.1:${port}`;
const env = { ...setup.env, SERVICE_PUBLIC_URL: issuer, REDIS_URL: redis.url };
const servers = [
  await startServer({ store, env }),
  await startServer({ store, env: { ...env, PORT: String(port) } }),
] as const;
const client = { id: 'relay', secret: setup.secretOf('relay') };
const options = { issuer, resource: resourceOf('relay'), client };
let relay = await GuardedRelay.start(options);

afterAll(async () => {
  relay.kill('SIGKILL');
  await Promise.all(servers.map((server) => server.stop()));
  await Promise.all([postgres.stop(), redis.stop()]);
});

interface Visitor {
  readonly session: string;
  readonly token: string;
}

async function visitor(): Promise<Visitor> {
  const session = await tokenOf(servers[0], makeDeviceKey());
  return { session, token: await backendToken(servers[0], session, 'relay') };
}

const logOut = ({ session }: Visitor) =>
  call(servers[0], 'POST', '/v1/auth/logout', { token: session });

const statusOf = async ({ token }: Visitor) => (await relay.whoami(token)).status;

it('closes the socket of a session that ends at another replica while Redis is away', async () => {
  const [leaver, other] = [await visitor(), await visitor()];
  const sockets = await Promise.all([leaver, other].map(({ token }) => relay.open(token)));
  const closed = once(sockets[0] as WebSocket, 'close');
  await redis.kill('SIGKILL');
  expect((await logOut(leaver)).status).toBe(200);
  const [code] = (await closed) as [number];
  expect(code).toBe(4401);
  expect([await statusOf(leaver), await statusOf(other)]).toEqual([401, 200]);
  expect(sockets[1]?.readyState).toBe(WebSocket.OPEN);
  sockets[1]?.terminate();
  await redis.restart();
});

it('admits no request past its lease while the database is away, and recovers without a restart', async () => {
  const [one, two] = [await visitor(), await visitor()];
  const socket = await relay.open(one.token);
  const closed = once(socket, 'close');
  expect(await statusOf(one)).toBe(200);
  await postgres.kill('SIGKILL');
  await waitFor('the guard notices it', () => relay.logs().includes('signals cannot be received'));
  relay.moveClocks(LEASE_MS);
  const refused = await relay.whoami(one.token);
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    { code: 'guard-lease-expired' },
  ]);
  expect(refused.headers.get('retry-after')).toBe('2');
  const [code, reason] = (await closed) as [number, Buffer];
  expect([code, reason.toString()]).toEqual([4401, 'guard-lease-expired']);
  await postgres.restart();
  await waitFor('the relay admits again', async () => (await statusOf(one)) === 200);
  expect((await logOut(two)).status).toBe(200);
  await waitFor('the relay refuses who left', async () => (await statusOf(two)) === 401);
  expect(await statusOf(one)).toBe(200);
  relay.moveClocks(-LEASE_MS);
  await waitFor('it recovers from the step back', async () => (await statusOf(one)) === 200);
});

it('starts next to 100 instances that crashed, once one of them is silent for a minute', async () => {
  const sql = new Client(store.databaseUrl ?? '');
  await sql.connect();
  const { rows } = await sql.query<{ count: number }>('SELECT count(*)::int FROM event_stream');
  for (let index = rows[0]?.count ?? 0; index < MAX_STREAMS; index += 1) {
    await EventStreamFixture.open(servers[0], setup, 'relay');
  }
  const next = GuardedRelay.begin(options);
  try {
    await waitFor('it is refused', () => next.logs().includes('signals cannot be received'));
    expect(next.isListening).toBe(false);
    await sql.query(
      `UPDATE event_stream SET polled_at = now() - interval '61 seconds'
       WHERE id = (SELECT id FROM event_stream ORDER BY polled_at LIMIT 1)`,
    );
    await next.listens();
    const one = await visitor();
    expect((await next.whoami(one.token)).status).toBe(200);
    await logOut(one);
    await waitFor('it refuses who left', async () => (await next.whoami(one.token)).status === 401);
  } finally {
    next.kill('SIGKILL');
    await sql.query('DELETE FROM event_stream');
    await sql.end();
  }
});

it('refuses every ended token after it was killed again and again meanwhile', async () => {
  const people: Visitor[] = [];
  while (people.length < REVOCATIONS + 1) {
    people.push(...(await Promise.all(Array.from({ length: 20 }, visitor))));
  }
  const [stays, ...leavers] = people as [Visitor, ...Visitor[]];
  const each = Math.ceil(leavers.length / KILLS);
  const ended: Visitor[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const leaving = leavers.slice(kill * each, (kill + 1) * each);
    const half = Math.ceil(leaving.length / 2);
    await Promise.all(leaving.slice(0, half).map(logOut));
    relay.kill('SIGKILL');
    const starting = GuardedRelay.start(options);
    await Promise.all(leaving.slice(half).map(logOut));
    relay = await starting;
    ended.push(...leaving);
    await waitFor('the relay has the last ends', async () => {
      return (await statusOf(ended.at(-1) as Visitor)) === 401;
    });
    const sample = IS_LONG ? ended : [...ended.slice(0, 10), ...leaving];
    for (const one of sample) {
      expect(await statusOf(one)).toBe(401);
    }
    expect(await statusOf(stays)).toBe(200);
  }
  expect(ended).toHaveLength(leavers.length);
  expect((await relay.whoami(randomUUID())).status).toBe(401);
});
