import { randomBytes } from 'node:crypto';
import { createStore, type Store } from '../../../test/fixtures/programs/store-fixture.js';
import { runSql } from '../../../test/fixtures/programs/services-fixture.js';
import { resolveSettings } from '../config/resolve-settings.js';
import { dataSourceOptions, migrationOptions, withAddress } from './data-source.js';
import { DatabaseConnection } from './database-connection.js';
import { ServerDataSource } from './server-data-source.js';

const { storage } = resolveSettings({}).settings;

/** Each of them changes how values are written or read, or how long a statement may run. */
const ROLE = {
  datestyle: 'German',
  intervalstyle: 'sql_standard',
  timezone: 'Asia/Kathmandu',
  client_encoding: 'LATIN1',
  default_transaction_isolation: 'serializable',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  synchronous_commit: 'off',
  statement_timeout: '3s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '1s',
};

let store: Store;
let role: string;

beforeAll(async () => {
  store = await createStore();
  role = `odd_${randomBytes(4).toString('hex')}`;
  await runSql(store.databaseUrl, `CREATE ROLE ${role} SUPERUSER LOGIN`);
  for (const [name, value] of Object.entries(ROLE)) {
    await runSql(store.databaseUrl, `ALTER ROLE ${role} SET ${name} = '${value}'`);
  }
});

afterAll(async () => {
  await store.drop();
  await runSql(process.env['TEST_DATABASE_URL'] ?? null, `DROP ROLE ${role}`);
});

function addressOf(user: string): string {
  const url = new URL(store.databaseUrl ?? '');
  url.username = user;
  return url.href;
}

async function withSource<Result>(
  options: ReturnType<typeof dataSourceOptions>,
  work: (source: ServerDataSource) => Promise<Result>,
): Promise<Result> {
  const source = new ServerDataSource(withAddress(options, { url: addressOf(role) }));
  await source.initialize();
  source.open(true);
  try {
    return await work(source);
  } finally {
    await source.destroy();
  }
}

describe(DatabaseConnection, () => {
  it('has the same settings in every session, whatever the role has', async () => {
    const found = await withSource(dataSourceOptions(storage), (source) =>
      source.query<Record<string, string>[]>(
        `SELECT ${Object.keys(ROLE)
          .map((name) => `current_setting('${name}') AS "${name}"`)
          .join(', ')}`,
      ),
    );
    expect(found).toEqual([
      {
        datestyle: 'ISO, MDY',
        intervalstyle: 'postgres',
        timezone: 'UTC',
        client_encoding: 'UTF8',
        default_transaction_isolation: 'read committed',
        standard_conforming_strings: 'on',
        array_nulls: 'on',
        bytea_output: 'hex',
        extra_float_digits: '1',
        synchronous_commit: 'on',
        statement_timeout: '5s',
        lock_timeout: '3s',
        idle_in_transaction_session_timeout: '10s',
      },
    ]);
  });

  it('keeps a stricter durability than that of the disk', async () => {
    await runSql(store.databaseUrl, `ALTER ROLE ${role} SET synchronous_commit = 'remote_apply'`);
    const found = await withSource(dataSourceOptions(storage), (source) =>
      source.query('SHOW synchronous_commit'),
    );
    await runSql(store.databaseUrl, `ALTER ROLE ${role} SET synchronous_commit = 'off'`);
    expect(found).toEqual([{ synchronous_commit: 'remote_apply' }]);
  });

  it('limits only the waits for locks of a migration, whatever the role has', async () => {
    const limits = `SELECT current_setting('statement_timeout') AS statement,
      current_setting('lock_timeout') AS lock,
      current_setting('idle_in_transaction_session_timeout') AS idle`;
    expect(await withSource(migrationOptions(storage), (source) => source.query(limits))).toEqual([
      { statement: '0', lock: '2s', idle: '0' },
    ]);
  });

  it('refuses a time in another format, which would be read as a missing one', async () => {
    await withSource(dataSourceOptions(storage), async (source) => {
      const runner = source.createQueryRunner();
      await runner.query(`SET DateStyle = 'German'`);
      await expect(runner.query('SELECT now() AS "disabledAt"')).rejects.toMatchObject({
        code: 'unavailable',
      });
      await runner.release();
      expect(source.lastFailure?.message).toMatch(/not in the format of ISO 8601/);
    });
  });

  it('begins each transaction with its isolation, which a pooler in transaction mode does not keep', async () => {
    await withSource(dataSourceOptions(storage), async (source) => {
      const runner = source.createQueryRunner();
      await runner.query(`SET default_transaction_isolation = 'serializable'`);
      await runner.startTransaction();
      expect(await runner.query('SHOW transaction_isolation')).toEqual([
        { transaction_isolation: 'read committed' },
      ]);
      await runner.rollbackTransaction();
      await runner.release();
    });
  });

  it('gives the reason of a connection that ended between two statements', async () => {
    await withSource(dataSourceOptions(storage), async (source) => {
      const runner = source.createQueryRunner();
      await runner.startTransaction();
      const [own] = (await runner.query('SELECT pg_backend_pid() AS "pid"')) as { pid: number }[];
      const connection = (await runner.connect()) as DatabaseConnection;
      const ended = new Promise<void>((done) => connection.once('end', done));
      await runSql(store.databaseUrl, `SELECT pg_terminate_backend(${own?.pid})`);
      await ended;
      await expect(runner.query('SELECT 1')).rejects.toMatchObject({ code: 'unavailable' });
      await runner.release();
      expect(source.lastFailure?.message).toBe(
        'terminating connection due to administrator command',
      );
    });
  });
});
