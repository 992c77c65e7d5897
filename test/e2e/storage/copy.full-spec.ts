import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { startLoginFixture } from '../../fixtures/provider-login-fixture.js';
import {
  createCliUser,
  type CliResult,
  type CliUser,
} from '../../fixtures/programs/cli-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import {
  createEmbeddedStore,
  createEmptyDatabase,
  createStore,
  DATABASE_TIMES,
  type EmbeddedStore,
  type Store,
} from '../../fixtures/programs/store-fixture.js';
import { sessionsOf } from '../../fixtures/sessions-fixture.js';
import { AccountCalls, encrypted, OPTIONAL_PLAIN, plain } from '../../helpers/account-calls.js';
import { call, logIn, makeDeviceKey } from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { keylessLogin, OPTIONAL } from '../../helpers/keyless-calls.js';
import { waitFor } from '../../helpers/wait.js';

const WAITS = `wait_event = 'advisory'`;
const PATIENT = { ...DATABASE_TIMES, SERVICE_DATABASE_LOCK_TIMEOUT_MS: '600000' };

let user: CliUser;
let from: EmbeddedStore;
let to: Store;
let database: Client;

beforeEach(async () => {
  user = await createCliUser();
  from = await createEmbeddedStore();
  to = await createStore();
  database = new Client({ connectionString: to.databaseUrl ?? '' });
  await database.connect();
});

afterEach(async () => {
  await database.end();
  await to.drop();
  await from.drop();
});

const args = (...more: string[]) => ['copy', '--from-data-dir', from.env.SERVICE_DATA_DIR, ...more];

const environment = () => ({ ...PATIENT, DATABASE_URL: to.databaseUrl ?? '' });

/** The store after the change of variables that the command asks for. */
const copied = (): Store => ({
  databaseUrl: to.databaseUrl,
  env: {
    ...environment(),
    SERVICE_MASTER_SECRET_FILE: join(from.env.SERVICE_DATA_DIR, 'master-secret'),
  },
  drop: () => Promise.resolve(),
});

const countOf = async (table: string): Promise<number> => {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM "${table}"`,
  );
  return rows[0]?.count ?? 0;
};

const copiesIn = async (condition: string): Promise<number> => {
  const { rows } = await database.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'gatehouse' AND ${condition}`,
  );
  return rows[0]?.count ?? 0;
};

const errorOf = ({ stderr }: CliResult): unknown => {
  const line = stderr.split('\n').find((text) => text.startsWith('{"error"')) ?? '{}';
  return (JSON.parse(line) as { error?: unknown }).error;
};

const refused = async (env: Readonly<Record<string, string>> = {}): Promise<unknown> =>
  errorOf(await user.run(args('--json'), { ...environment(), ...env }));

/** Ends the server so that nothing of it runs when the command begins. */
const stopped = async (server: Server): Promise<void> => {
  await server.kill('SIGTERM');
};

describe('gatehouse copy', () => {
  it('moves sessions, settings and sealed values to a server on PostgreSQL', async () => {
    const fixture = await startLoginFixture({
      env: { ...OPTIONAL, AUTH_ANONYMOUS_SIGNUP_ENABLED: 'true' },
      store: from,
    });
    const { server, env } = fixture;
    const key = makeDeviceKey();
    const keyed = new AccountCalls(server, (await logIn(server, key)).token);
    await keyed.writeSettingsV2(encrypted('ZTJlZQ=='), 0);
    const { body: login } = await keylessLogin(server, 'anna');
    const keyless = new AccountCalls(server, String(login['token']));
    await keyless.writeSettingsV2(plain({ note: 'sealed' }), 0);
    await keyless.putCredential('github', plain('sealed, too'));
    const tokens = [keyed.token, keyless.token];
    const stateOn = (target: Server) =>
      Promise.all(
        tokens.map(async (token) => {
          const account = new AccountCalls(target, token);
          const [settings, profile] = [await account.settingsV2(), await account.profile()];
          const credentials = await account.credentials();
          const sessions = (await sessionsOf(target, token)).map(({ id, method }) => [id, method]);
          return [settings.body, profile.body, credentials.body, sessions];
        }),
      );
    const before = await stateOn(server);
    await stopped(server);

    const run = await user.run(args('--json'), environment());
    expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('account: 2 of 2') });
    // Settings, the credential, and the refresh token of the identity.
    expect(JSON.parse(run.stdout)).toMatchObject({ tables: { account: 2, session: 2 }, sealed: 3 });

    const again = await startServer({ store: copied(), env });
    expect(await stateOn(again)).toEqual(before);
    expect(await logIn(again, key)).toMatchObject({ created: false });
    expect(await keylessLogin(again, 'anna')).toMatchObject({ body: { created: false } });
    const live = await connect(again, { token: keyed.token });
    expect(await live.next('hello')).toMatchObject({ seq: 1 });
    live.close();
    const { rows } = await database.query<{ kind: string }>(
      'SELECT kind FROM audit_event ORDER BY id DESC LIMIT 1',
    );
    expect(rows).toEqual([{ kind: 'logged-in' }]);
    await again.stop();
    await fixture.stop();
  });

  it('leaves the target empty when it is cut off or killed, and a further run succeeds', async () => {
    const server = await startServer({ store: from });
    const { token } = await logIn(server);
    await call(server, 'POST', '/v1/push-tokens', { token, body: { token: 'kept' } });
    await stopped(server);
    // The insert of one table waits for this test.
    await database.query(`CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END'`);
    await database.query(
      'CREATE TRIGGER wait BEFORE INSERT ON push_token FOR EACH ROW EXECUTE FUNCTION wait()',
    );
    await database.query('SELECT pg_advisory_lock(1)');
    const startWaiting = async () => {
      const copy = user.start(args('--json'), environment());
      await copy.until(() => /account: 1 of 1/.test(copy.stderr()));
      await waitFor('the copy waits', async () => (await copiesIn(WAITS)) === 1);
      return copy;
    };
    const cut = await startWaiting();
    await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND ${WAITS}`,
    );
    expect(errorOf(await cut.exited)).toMatchObject({
      exitCode: 4,
      message: expect.stringContaining('terminating connection due to administrator command'),
    });
    const killed = await startWaiting();
    killed.child.kill('SIGKILL');
    await killed.exited;
    await database.query('SELECT pg_advisory_unlock(1)');
    await waitFor('the connection ends', async () => (await copiesIn('true')) === 0);
    expect([await countOf('account'), await countOf('session')]).toEqual([0, 0]);

    expect(await user.run(args(), environment())).toMatchObject({ code: 0 });
    const again = await startServer({ store: copied() });
    const { body } = await call(again, 'GET', '/v1/push-tokens', { token });
    expect(body['tokens']).toMatchObject([{ token: 'kept' }]);
    await again.stop();
  });

  it('refuses a target with rows, and a directory that a server uses', async () => {
    const server = await startServer({ store: from });
    await logIn(server);
    expect(await refused()).toMatchObject({ exitCode: 4, code: 'database-in-use' });
    await stopped(server);
    await database.query(`INSERT INTO login_challenge VALUES ('\\x00', now())`);
    expect(await refused()).toMatchObject({ exitCode: 1, code: 'target-not-empty' });
    await database.query('DELETE FROM login_challenge');
    expect(await user.run(args(), environment())).toMatchObject({ code: 0 });
    expect(await refused()).toMatchObject({ exitCode: 1, code: 'target-not-empty' });
    expect(await countOf('account')).toBe(1);
  });

  it('refuses secrets that do not open what is sealed, before it copies', async () => {
    const server = await startServer({ store: from, env: OPTIONAL_PLAIN });
    const { token } = await logIn(server);
    await new AccountCalls(server, token).writeSettingsV2(plain('sealed'), 0);
    await stopped(server);
    const other = { SERVICE_MASTER_SECRET: 'not-the-secret-of-the-directory-0123456789' };
    const run = await user.run(args('--json'), { ...environment(), ...other });
    expect(errorOf(run)).toMatchObject({ exitCode: 1, code: 'master-secret-missing' });
    expect(run.stderr).not.toContain('account:');
    await rm(join(from.env.SERVICE_DATA_DIR, 'master-secret'));
    expect(await refused()).toMatchObject({ exitCode: 78, code: 'master-secret-missing' });
    expect(await countOf('account')).toBe(0);
  });

  it('refuses a database of another schema version, on either side', async () => {
    await runSql(
      to.databaseUrl ?? '',
      `INSERT INTO schema_migration (timestamp, name) VALUES (9999999999999, 'Later9999999999999')`,
    );
    expect(await refused()).toMatchObject({ exitCode: 4, code: 'schema-ahead' });
    const empty = await createEmptyDatabase();
    expect(await refused({ DATABASE_URL: empty.url })).toMatchObject({ code: 'schema-behind' });
    await empty.drop();
  });

  it('creates no database where there is none', async () => {
    await rm(join(from.env.SERVICE_DATA_DIR, 'db'), { recursive: true });
    expect(await refused()).toMatchObject({ exitCode: 78, code: 'no-database' });
    expect(await refused({ DATABASE_URL: '' })).toMatchObject({
      exitCode: 78,
      code: 'no-database',
    });
  });
});
