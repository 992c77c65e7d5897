import { randomBytes } from 'node:crypto';
import { call, logIn, refusalOf } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';

const STATEMENTS = [
  `SET datestyle = 'German'`,
  `SET timezone = 'Asia/Kathmandu'`,
  `SET client_encoding = 'LATIN1'`,
  `SET default_transaction_isolation = 'serializable'`,
  `SET bytea_output = 'escape'`,
  `SET array_nulls = off`,
];

const role = `odd_${randomBytes(4).toString('hex')}`;
const store = await createStore();
const url = new URL(store.databaseUrl ?? '');
url.username = role;
await runSql(store.databaseUrl, `CREATE ROLE ${role} SUPERUSER LOGIN`);
for (const statement of STATEMENTS) {
  await runSql(store.databaseUrl, `ALTER ROLE ${role} ${statement}`);
}
const server = await startServer({ store, env: { DATABASE_URL: url.href } });

afterAll(async () => {
  await server.stop();
  await store.drop();
  await runSql(process.env['TEST_DATABASE_URL'] ?? null, `DROP ROLE ${role}`);
});

describe('a database role with settings of its own (PostgreSQL only)', () => {
  it('logs accounts in and returns times and texts as they are', async () => {
    const before = Date.now();
    const { token } = await logIn(server);
    const name = 'Gerät – 端末';
    const body = { token: 'push', name };
    expect((await call(server, 'POST', '/v1/push-tokens', { token, body })).status).toBe(200);
    const { body: saved } = await call(server, 'GET', '/v1/push-tokens', { token });
    const [found] = saved['tokens'] as { name: string; createdAt: number }[];
    expect(found?.name).toBe(name);
    expect(found?.createdAt).toBeGreaterThanOrEqual(before);
    expect(found?.createdAt).toBeLessThanOrEqual(Date.now());
    const { status, body: listed } = await call(server, 'GET', '/v1/account/sessions', { token });
    expect(status).toBe(200);
    const [session] = listed['sessions'] as { createdAt: number }[];
    expect(session?.createdAt).toBeGreaterThanOrEqual(before);
  });

  it('accepts 20 simultaneous saves of one account', async () => {
    const { token } = await logIn(server);
    const save = (_value: unknown, index: number) =>
      call(server, 'POST', '/v1/push-tokens', { token, body: { token: `t${index % 2}` } });
    const answers = await Promise.all(Array.from({ length: 20 }, save));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  });

  it('limits the guessing of device codes, whose end is a time', async () => {
    const { token } = await logIn(server);
    const guess = () => call(server, 'GET', '/v2/auth/devices/BCDF-GHJK', { token });
    const answers = [await guess(), await guess(), await guess(), await guess()];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 429]);
    expect(refusalOf(answers[3]!)).toEqual({ status: 429, code: 'rate-limited' });
  });
});
