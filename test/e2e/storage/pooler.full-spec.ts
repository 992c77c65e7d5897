import { useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { startPgBouncer } from '../../fixtures/programs/services-fixture.js';
import { createStore } from '../../fixtures/programs/store-fixture.js';
import { call, logIn } from '../../helpers/client.js';

const store = await createStore();
const pooler = await startPgBouncer(store.databaseUrl ?? '');
const env = { ...store.env, DATABASE_URL: pooler.url };
const server = await startServer({ store, env });
const user = useCliUser();

afterAll(async () => {
  await server.stop();
  await pooler.stop();
  await store.drop();
});

/** PgBouncer before 1.21, or without `max_prepared_statements`. */
describe('a pooler in transaction mode that keeps no prepared statements (PostgreSQL only)', () => {
  it('costs a few refusals, and one line of the log', async () => {
    const { token } = await logIn(server).catch(() => logIn(server));
    const save = (_value: unknown, index: number) =>
      call(server, 'POST', '/v1/push-tokens', { token, body: { token: `t${index}` } });
    const answers = await Promise.all(Array.from({ length: 50 }, save));
    const codes = new Set(answers.map(({ status }) => status));
    expect([...codes].filter((code) => code !== 200 && code !== 503)).toEqual([]);
    await server.logged(/does not keep prepared statements/);
    const later = await Promise.all(Array.from({ length: 50 }, save));
    expect(later.map(({ status }) => status)).toEqual(Array(50).fill(200));
    const { body } = await call(server, 'GET', '/v1/push-tokens', { token });
    expect((body['tokens'] as unknown[]).length).toBe(50);
    expect(server.logs().match(/does not keep prepared statements/g)).toHaveLength(1);
    expect(server.logs()).not.toContain('"level":"error"');
  });

  it('is named by doctor', async () => {
    const named = 'Its pooler does not keep prepared statements.';
    // The second run finds the statement of the first.
    expect((await user.run(['doctor'], env)).stdout).toContain(named);
    expect((await user.run(['doctor'], env)).stdout).toContain(named);
    const off = { ...env, SERVICE_DATABASE_PREPARED_STATEMENTS: 'false' };
    expect((await user.run(['doctor'], off)).stdout).not.toContain(named);
    expect((await user.run(['doctor'], store.env)).stdout).not.toContain(named);
  });
});
