import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { call, logIn } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { type Server, startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore, DATABASE_TIMES } from '../../fixtures/programs/store-fixture.js';
import { createDatabase, runSql } from '../../fixtures/programs/services-fixture.js';
import { waitFor } from '../../helpers/wait.js';

const CLI = join(import.meta.dirname, '../../../dist/bin/gatehouse.js');
const SECRET = 'a-master-secret-that-only-tests-know-0123456789';

const run = promisify(execFile);

/** All changes that migrations of the next version may make (src/server/storage/migrations/README.md). */
const NEXT_VERSION = `
  ALTER TABLE account ADD COLUMN future_note text, ADD COLUMN future_count integer NOT NULL DEFAULT 0;
  ALTER TABLE identity ADD COLUMN future_facts jsonb;
  ALTER TABLE push_token ADD COLUMN future_kind text NOT NULL DEFAULT 'expo';
  ALTER TABLE audit_event ADD COLUMN future_origin text;
  ALTER TABLE session ADD COLUMN future_reason text;
  CREATE TABLE future_thing (
    id uuid PRIMARY KEY, account_id uuid REFERENCES account (id) ON DELETE CASCADE);
  CREATE INDEX future_account_note_idx ON account (future_note);
  INSERT INTO schema_migration (timestamp, name) VALUES (4102444800000, 'Future4102444800000')`;

async function migrate(
  url: string,
  ...args: string[]
): Promise<{ ran?: string[]; pending?: string[] }> {
  const { stdout } = await run(process.execPath, [CLI, 'migrate', '--json', ...args], {
    env: {
      ...{ PATH: process.env['PATH'], DATABASE_URL: url, SERVICE_MASTER_SECRET: SECRET },
      ...DATABASE_TIMES,
    },
  });
  return JSON.parse(stdout) as { ran?: string[]; pending?: string[] };
}

async function expectServing(server: Server): Promise<void> {
  expect((await call(server, 'GET', '/readyz')).status).toBe(200);
  const { token, accountId } = await logIn(server);
  const live = await connect(server, { token });
  expect(await live.next('hello')).toEqual({ accountId, seq: 0 });
  await call(server, 'POST', '/v1/push-tokens', { token, body: { token: 'x' } });
  expect(await live.next('update')).toMatchObject({ seq: 1 });
  live.close();
  for (const path of ['/v1/account/profile', '/v1/push-tokens', '/v2/account/settings']) {
    expect({ path, status: (await call(server, 'GET', path, { token })).status }).toEqual({
      path,
      status: 200,
    });
  }
  expect((await call(server, 'DELETE', '/v1/account', { token })).status).toBeLessThan(300);
}

describe('this version on the schema of the next', () => {
  it('serves without a failure while the schema changes, and starts on it', async () => {
    const store = await createStore();
    const url = store.databaseUrl ?? '';
    const server = await startServer({ store, env: { AUTH_ACCESS_CACHE_SECONDS: '0' } });
    const { token } = await logIn(server);
    const statuses: number[] = [];
    const stopping = new AbortController();
    const load = async (): Promise<void> => {
      for (let turn = 0; !stopping.signal.aborted; turn += 1) {
        const body = { token: `t${turn % 9}` };
        const answer = await (turn % 2 === 0
          ? call(server, 'POST', '/v1/push-tokens', { token, body })
          : call(server, 'GET', '/v1/account/profile', { token }));
        statuses.push(answer.status);
      }
    };
    const loads = Array.from({ length: 4 }, load);
    await expectServing(server);
    await runSql(url, NEXT_VERSION);
    await expectServing(server);
    stopping.abort();
    await Promise.all(loads);
    expect(statuses.length).toBeGreaterThan(20);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);

    // After a rollback the schema stays ahead of the program.
    const rolledBack = await startServer({ store });
    await expectServing(rolledBack);
    await expectServing(server);
    expect(await migrate(url, '--check')).toMatchObject({ pending: [] });
    expect(await migrate(url)).toMatchObject({ ran: [] });
    const [{ count }] = (await runSql(url, 'SELECT count(*) FROM future_thing')) as [
      { count: string },
    ];
    expect(count).toBe('0');
    await Promise.all([server.stop(), rolledBack.stop()]);
    await store.drop();
  });
});

describe('gatehouse migrate', () => {
  it('runs every migration once when three processes run it', async () => {
    const database = await createDatabase(process.env['TEST_DATABASE_URL'] ?? '');
    const { pending = [] } = await migrate(database.url, '--plan');
    expect(pending).not.toHaveLength(0);
    const outcomes = await Promise.all([1, 2, 3].map(() => migrate(database.url)));
    expect(outcomes.flatMap(({ ran = [] }) => ran).sort()).toEqual([...pending].sort());
    const rows = await runSql(database.url, 'SELECT name FROM schema_migration');
    expect(rows).toHaveLength(pending.length);
    await database.drop();
  });

  it('makes a server ready that was started before the migration', async () => {
    const database = await createDatabase(process.env['TEST_DATABASE_URL'] ?? '');
    const server = await startServer({
      untilReady: false,
      store: {
        databaseUrl: database.url,
        env: { DATABASE_URL: database.url, SERVICE_MASTER_SECRET: SECRET },
        drop: () => Promise.resolve(),
      },
    });
    const state = async (): Promise<unknown> =>
      ((await call(server, 'GET', '/readyz')).body['dependencies'] as { database: string })
        .database;
    while ((await state()) === 'connecting') {
      await new Promise((done) => setTimeout(done, 20));
    }
    expect(await state()).toBe('schema-behind');
    expect((await call(server, 'GET', '/livez')).status).toBe(200);
    await migrate(database.url);
    while ((await state()) !== 'ready') {
      await new Promise((done) => setTimeout(done, 20));
    }
    await expectServing(server);
    await runSql(database.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await waitFor('it notices that the tables are gone', async () => {
      const { status } = await call(server, 'GET', '/readyz');
      return status === 503 && (await state()) === 'schema-behind';
    });
    await migrate(database.url);
    await waitFor('it is ready again', async () => (await state()) === 'ready');
    await expectServing(server);
    await server.stop();
    await database.drop();
  });
});
