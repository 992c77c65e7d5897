import { call, logIn, refusalOf } from '../../helpers/client.js';
import { TcpProxy } from '../../helpers/tcp-proxy.js';
import { linesAfterStart } from '../../helpers/log-lines.js';
import { waitFor } from '../../helpers/wait.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { runSql, startPostgres } from '../../fixtures/programs/services-fixture.js';
import { createPostgresStore } from '../../fixtures/programs/store-fixture.js';

const UNAVAILABLE = { status: 503, code: 'unavailable' };
/** Every request reads the facts about its access. */
const UNCACHED = { AUTH_ACCESS_CACHE_SECONDS: '0' };

const primary = await startPostgres({ durable: false });
afterAll(() => primary.stop());

describe('a database that takes no writes (PostgreSQL only)', () => {
  it('admits no disabled account by a standby that is behind, and recovers when it is promoted', async () => {
    const store = await createPostgresStore(primary.url);
    const standby = await startPostgres({ durable: false, standbyOf: primary.url });
    const onStandby = (sql: string) => runSql(standby.url, sql);
    const url = store.databaseUrl ?? '';
    const proxy = await TcpProxy.start(portOf(url));
    const env = { ...UNCACHED, DATABASE_URL: proxy.urlFor(url) };
    const server = await startServer({ store, env });
    try {
      const { token, accountId } = await logIn(server);
      const read = () => call(server, 'GET', '/v1/account/profile', { token });
      await waitFor('the standby has the account', async () => {
        const own = new URL(url);
        own.port = new URL(standby.url).port;
        const found = 'SELECT FROM account WHERE id = $1';
        return (await runSql(own.href, found, [accountId]).catch(() => [])).length === 1;
      });
      await onStandby('SELECT pg_wal_replay_pause()');
      await runSql(url, 'UPDATE account SET disabled_at = now() WHERE id = $1', [accountId]);
      const [written] = await runSql<{ lsn: string }>(
        url,
        'SELECT pg_current_wal_insert_lsn() AS lsn',
      );
      await waitFor('the standby has what it does not show', async () => {
        const [received] = await runSql<{ isHere: boolean }>(
          standby.url,
          'SELECT pg_last_wal_receive_lsn() >= $1::pg_lsn AS "isHere"',
          [written?.lsn],
        );
        return received?.isHere;
      });
      proxy.leadTo(portOf(standby.url));
      proxy.cut();
      expect(refusalOf(await read())).toEqual(UNAVAILABLE);
      await waitFor('the state is named', async () => (await stateOf(server)) === 'read-only');
      const answers = await Promise.all(Array.from({ length: 20 }, read));
      expect(answers.map(refusalOf)).toEqual(Array.from({ length: 20 }, () => UNAVAILABLE));
      await onStandby('SELECT pg_wal_replay_resume()');
      await onStandby('SELECT pg_promote()');
      await waitFor('it is ready', async () => (await stateOf(server)) === 'ready');
      expect(refusalOf(await read())).toEqual({ status: 403, code: 'account-disabled' });
      expect((await logIn(server)).created).toBe(true);
      await server.logged(/The database is available again/);
      expect(linesAfterStart(server)).toEqual([
        'error The database is not available: It is a standby, which is read-only: DATABASE_URL has to lead to the primary.',
        'info The database is available again.',
      ]);
    } finally {
      await server.stop();
      proxy.close();
      await standby.stop();
    }
  });

  it('drops every connection to a server that becomes read-only under steady traffic', async () => {
    const store = await createPostgresStore(primary.url);
    const server = await startServer({ store, env: UNCACHED });
    const setReadOnly = async (value: 'on' | 'off'): Promise<void> => {
      await runSql(primary.url, `ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await runSql(primary.url, 'SELECT pg_reload_conf()');
    };
    const pids = async (): Promise<number[]> => {
      const rows = await runSql<{ pid: number }>(
        primary.url,
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'gatehouse' AND datname = $1`,
        [new URL(store.databaseUrl ?? '').pathname.slice(1)],
      );
      return rows.map(({ pid }) => pid);
    };
    let isOver = false;
    try {
      const { token } = await logIn(server);
      const ask = () => call(server, 'GET', '/v1/account/profile', { token });
      const asking = Array.from({ length: 4 }, async () => {
        while (!isOver) {
          await ask();
        }
      });
      const before = await waitFor('several connections', async () => {
        const found = await pids();
        return found.length > 1 && found;
      });
      await setReadOnly('on');
      await waitFor('not ready', async () => (await stateOf(server)) === 'read-only');
      expect(refusalOf(await call(server, 'POST', '/v1/auth/challenge', { body: {} }))).toEqual(
        UNAVAILABLE,
      );
      await waitFor('every earlier connection is dropped', async () => {
        const left = await pids();
        return !before.some((pid) => left.includes(pid));
      });
      await setReadOnly('off');
      await waitFor('ready', async () => (await stateOf(server)) === 'ready');
      expect((await logIn(server)).created).toBe(true);
      isOver = true;
      await Promise.all(asking);
      await server.logged(/The database is available again/);
      // A process of the database may read its changed settings after others did.
      const lines = linesAfterStart(server).filter((line) => !line.startsWith('warn '));
      expect([...new Set(lines)]).toEqual([
        'error The database is not available: It is read-only: default_transaction_read_only is on.',
        'info The database is available again.',
      ]);
    } finally {
      isOver = true;
      await setReadOnly('off');
      await server.stop();
    }
  });

  it('waits at the start until the address leads to a server that takes writes', async () => {
    const store = await createPostgresStore(primary.url);
    const url = store.databaseUrl ?? '';
    const name = new URL(url).pathname.slice(1);
    await runSql(primary.url, `ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    const server = await startServer({ store, untilReady: false });
    try {
      await waitFor('the state is named', async () => (await stateOf(server)) === 'read-only');
      await runSql(primary.url, `ALTER DATABASE "${name}" RESET default_transaction_read_only`);
      await waitFor('ready', async () => (await stateOf(server)) === 'ready');
      expect(server.logs().match(/The database is not available/g)).toHaveLength(1);
    } finally {
      await server.stop();
    }
  });
});

async function stateOf(server: Server): Promise<unknown> {
  const { status, body } = await call(server, 'GET', '/readyz');
  const { database } = body['dependencies'] as { database: string };
  expect(status).toBe(database === 'ready' ? 200 : 503);
  return database;
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
