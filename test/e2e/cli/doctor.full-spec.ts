import { chown, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../../../src/common/runtime/random.js';
import { MasterKeys } from '../../../src/server/storage/sealing/master-keys.js';
import { SealedBoxService } from '../../../src/server/storage/sealing/sealed-box.service.js';
import { TestAuthority } from '../../fixtures/certificates-fixture.js';
import { useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { freshDataDirectory } from '../../fixtures/programs/data-directory-fixture.js';
import { backends } from '../../fixtures/resource-server-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { createDatabase, runSql, startPostgres } from '../../fixtures/programs/services-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { createStore, DATABASE_TIMES, type Store } from '../../fixtures/programs/store-fixture.js';

const SECRET = 'the-secret-that-sealed-0123456789-0123456789';
const OTHER = 'another-secret-that-did-not-0123456789-0123456789';
const URL_KNOWN = { SERVICE_PUBLIC_URL: 'http://127.0.0.1:3000' };
const ACCOUNT = '7f7c0c2e-4b0b-4a5e-9f63-3a1d7c1b7a52';

const user = useCliUser();

interface Diagnosis {
  readonly code: number | null;
  /** The messages of each check, each after its status. */
  readonly checks: Readonly<Record<string, readonly string[]>>;
}

async function diagnose(env: Readonly<Record<string, string>>): Promise<Diagnosis> {
  const { code, stdout } = await user.run(['doctor', '--json'], { ...URL_KNOWN, ...env });
  const { ok, checks } = JSON.parse(stdout) as {
    ok: boolean;
    checks: { check: string; status: string; message: string }[];
  };
  expect(ok).toBe(code === 0);
  const byName: Record<string, string[]> = {};
  for (const { check, status, message } of checks) {
    (byName[check] ??= []).push(`${status}: ${message}`);
  }
  return { code, checks: byName };
}

describe('gatehouse doctor on PostgreSQL', () => {
  let store: Store;
  let env: Readonly<Record<string, string>>;
  beforeAll(async () => {
    store = await createStore();
    const box = new SealedBoxService(new MasterKeys(SECRET, []), new Random());
    await runSql(
      store.databaseUrl,
      `INSERT INTO account (id, created_at, key_mode, encryption_mode, settings_form, settings_content)
       VALUES ($1, now(), 'keyless', 'plain', 'sealed', $2)`,
      [ACCOUNT, box.seal('account-settings', ACCOUNT, '{}')],
    );
    env = { ...store.env, SERVICE_MASTER_SECRET: SECRET };
  });
  afterAll(() => store.drop());

  it('exits with 0 where everything works, and says what it does not check', async () => {
    const redis = `${process.env['TEST_REDIS_URL']}/0`;
    expect(await diagnose({ ...env, REDIS_URL: redis })).toEqual({
      code: 0,
      checks: {
        configuration: ['ok: It is valid.'],
        database: [expect.stringMatching(/^ok: PostgreSQL \d+.* answers, and takes writes\.$/)],
        schema: ['ok: It is that of this version.'],
        'master secret': ['ok: It opens the sealed values (1 tried).'],
        backends: ['skipped: No resource server is configured.'],
        signals: ['skipped: No identity provider is configured.'],
        clock: ['ok: It agrees with the clock of the database.'],
        disk: ['skipped: The database is not embedded.'],
        redis: ['ok: It answers, and takes writes.'],
        expiry: [expect.stringContaining('skipped: No certificate')],
        providers: ['skipped: No identity provider is configured.'],
      },
    });
  });

  it('prints a line for each check, and its progress on standard error', async () => {
    const { code, stdout, stderr } = await user.run(['doctor'], { ...URL_KNOWN, ...env });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {11}schema {10}It is that of this version\.$/m);
    expect(stdout).toMatch(/^not checked {2}redis {11}REDIS_URL is not set/m);
    expect(stdout).toContain('0 failed, 0 warnings, 6 not checked.');
    expect(stderr).toContain('Checking the database.');
  });

  it('finds a master secret that does not open what is stored', async () => {
    const wrong = await diagnose({ ...env, SERVICE_MASTER_SECRET: OTHER });
    expect(wrong).toMatchObject({ code: 1, checks: { database: [expect.stringMatching(/^ok/)] } });
    expect(wrong.checks['master secret']).toEqual([
      expect.stringMatching(/^failed: It does not open 1 of 1 sealed values.* [0-9a-f]{8}\./),
    ]);
    const rotated = await diagnose({
      ...env,
      SERVICE_MASTER_SECRET: OTHER,
      SERVICE_MASTER_SECRET_PREVIOUS: SECRET,
    });
    expect(rotated.code).toBe(0);
    expect(rotated.checks['master secret']).toEqual([
      expect.stringMatching(/^warning: .*gatehouse reseal$/),
    ]);
  });

  it('shows the last signal of each provider, and warns of a webhook that sends none', async () => {
    const github = {
      ...{ GITHUB_CLIENT_ID: 'gatehouse', GITHUB_CLIENT_SECRET: 'a-client-secret-of-the-spec' },
      ...{ AUTH_GITHUB_WEBHOOK_SECRET: 'a-webhook-secret-of-the-spec' },
      AUTH_OFFBOARDING_ENABLED: 'true',
    };
    const silent = await diagnose({ ...env, ...github });
    expect(silent.checks['signals']).toEqual([
      'warning: github: no webhook delivery arrived yet. Is it set up at the provider?',
    ]);
    await runSql(
      store.databaseUrl,
      `INSERT INTO provider_signal (provider, kind, received_at)
       VALUES ('github', 'webhook', '2026-01-02T03:04:05Z')`,
    );
    const heard = await diagnose({ ...env, ...github });
    expect(heard.checks['signals']).toEqual([
      'ok: github: the last webhook delivery arrived on 2026-01-02 03:04 UTC.',
    ]);
  });

  it('judges the age of the keys of backends', async () => {
    const setup = backends([{ id: 'relay' }]);
    const absent = await diagnose({ ...env, ...setup.env });
    expect(absent.checks['backends']).toEqual([
      'ok: The credentials of relay can be read.',
      expect.stringMatching(/^warning: There is no ES256 key yet/),
      'skipped: relay has no stream of ended sessions.',
    ]);
    await runSql(
      store.databaseUrl,
      `INSERT INTO signing_key (id, kid, alg, private_key, signs_from)
       VALUES ($1, 'kid', 'ES256', $2, now() - interval '100 days')`,
      [
        ACCOUNT,
        new SealedBoxService(new MasterKeys(SECRET, []), new Random()).seal(
          'signing-key',
          'kid',
          '{}',
        ),
      ],
    );
    const old = await diagnose({ ...env, ...setup.env });
    expect(old.checks['backends']).toContainEqual(
      expect.stringMatching(/^failed: .* no server made the next one in time\.$/),
    );
    await runSql(store.databaseUrl, 'DELETE FROM signing_key');
  });

  it('warns of streams that are not polled, and of those that acknowledge nothing', async () => {
    const setup = backends([{ id: 'relay' }]);
    await runSql(
      store.databaseUrl,
      `INSERT INTO event_stream (id, resource_server, created_at, polled_at, position)
       VALUES ($1, 'relay', now(), now() + interval '1 hour', 0)`,
      [ACCOUNT],
    );
    const judged = async () => (await diagnose({ ...env, ...setup.env })).checks['backends'];
    const has = 'relay has 1 stream(s) of ended sessions';
    expect(await judged()).toContain(`ok: ${has}, all polled.`);
    await runSql(
      store.databaseUrl,
      `INSERT INTO security_event (id, resource_server, at, txn)
       VALUES ($1, 'relay', now() - interval '10 minutes', 1)`,
      [ACCOUNT],
    );
    expect(await judged()).toContainEqual(
      expect.stringMatching(/^warning: relay has 1 stream.*; an event waits for 6\d\d seconds\.$/),
    );
    await runSql(
      store.databaseUrl,
      `UPDATE event_stream SET polled_at = now() - interval '1 minute'`,
    );
    expect(await judged()).toContain(`warning: ${has}, of which 1 were not polled for 30 seconds.`);
    await runSql(store.databaseUrl, 'DELETE FROM event_stream');
    await runSql(store.databaseUrl, 'DELETE FROM security_event');
  });

  it('finds a schema that is behind', async () => {
    const { url, drop } = await createDatabase(process.env['TEST_DATABASE_URL'] ?? '');
    const { code, checks } = await diagnose({ ...env, DATABASE_URL: url });
    expect(code).toBe(1);
    expect(checks['schema']).toEqual([expect.stringMatching(/^failed: .*gatehouse migrate$/)]);
    for (const name of ['master secret', 'backends', 'signals']) {
      expect(checks[name]).toEqual([expect.stringMatching(/^skipped: /)]);
    }
    await drop();
  });

  it('finds a database that takes no writes', async () => {
    const { url, drop } = await createDatabase(process.env['TEST_DATABASE_URL'] ?? '');
    const name = new URL(url).pathname.slice(1);
    await runSql(url, `ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    const { code, checks } = await diagnose({ ...env, DATABASE_URL: url });
    expect(code).toBe(1);
    expect(checks['database']).toEqual([
      expect.stringMatching(/^failed: .*It is read-only: default_transaction_read_only is on/),
    ]);
    expect(checks['schema']).toEqual([expect.stringMatching(/^skipped: /)]);
    await drop();
  });

  it('finds a role that may only read', async () => {
    const url = new URL(store.databaseUrl ?? '');
    const role = `${url.pathname.slice(1)}_reader`;
    await runSql(store.databaseUrl, `CREATE ROLE "${role}" LOGIN PASSWORD 'reads'`);
    await runSql(store.databaseUrl, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO "${role}"`);
    Object.assign(url, { username: role, password: 'reads' });
    const { code, checks } = await diagnose({ ...env, DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(checks['database']).toContainEqual(
      expect.stringMatching(/^failed: Its role may not read and change the rows of: account, /),
    );
    await runSql(
      store.databaseUrl,
      `GRANT UPDATE, DELETE, INSERT ON ALL TABLES IN SCHEMA public TO "${role}"`,
    );
    await runSql(store.databaseUrl, `REVOKE UPDATE ON audit_event FROM "${role}"`);
    expect((await diagnose({ ...env, DATABASE_URL: url.href })).code).toBe(0);
    await runSql(store.databaseUrl, `DROP OWNED BY "${role}"`);
    await runSql(store.databaseUrl, `DROP ROLE "${role}"`);
  });

  it('finds a database that does not store the texts of all languages', async () => {
    const url = new URL(store.databaseUrl ?? '');
    const name = `${url.pathname.slice(1)}_latin`;
    const options = `ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`;
    await runSql(store.databaseUrl, `CREATE DATABASE "${name}" ${options}`);
    url.pathname = name;
    const { code, checks } = await diagnose({ ...env, DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(checks['database']).toEqual([
      expect.stringMatching(/^failed: Its encoding is LATIN1: .*createdb --encoding=UTF8/),
    ]);
    await runSql(store.databaseUrl, `DROP DATABASE "${name}"`);
  });

  it('warns of a role that may open fewer connections than a server', async () => {
    const url = new URL(store.databaseUrl ?? '');
    url.username = 'few_connections';
    await runSql(
      store.databaseUrl,
      `CREATE ROLE ${url.username} SUPERUSER LOGIN CONNECTION LIMIT 3`,
    );
    const { code, checks } = await diagnose({ ...env, DATABASE_URL: url.href });
    await runSql(store.databaseUrl, `DROP ROLE ${url.username}`);
    expect(code).toBe(0);
    expect(checks['database']).toEqual([
      expect.stringMatching(/^ok: /),
      expect.stringMatching(
        /^warning: A server opens up to 10 connections .* admits 3 of this role/,
      ),
    ]);
  });

  it('finds a standby', async () => {
    const primary = await startPostgres({ durable: false });
    const standby = await startPostgres({ durable: false, standbyOf: primary.url });
    const { code, checks } = await diagnose({ ...env, DATABASE_URL: standby.url });
    expect(code).toBe(1);
    expect(checks['database']).toEqual([expect.stringMatching(/^failed: .*It is a standby/)]);
    await standby.stop();
    await primary.stop();
  });

  it('finds a TLS key of another certificate, for each port', async () => {
    const authority = TestAuthority.root(user.home, 'Root');
    const [one, other] = [authority.issue({}), authority.issue({})];
    const wrong = {
      ...{ SERVICE_TLS_CERT_PATH: one.certPath, SERVICE_TLS_KEY_PATH: other.keyPath },
      ...{ ADMIN_PORT: '3001', ADMIN_TOKENS_FILE: one.certPath },
      ...{ ADMIN_TLS_CERT_PATH: one.certPath, ADMIN_TLS_KEY_PATH: other.keyPath },
    };
    const { code, checks } = await diagnose({ ...env, ...wrong });
    expect(code).toBe(78);
    for (const name of ['SERVICE_TLS_KEY_PATH', 'ADMIN_TLS_KEY_PATH']) {
      expect(checks['configuration']).toContainEqual(
        expect.stringMatching(`^failed: ${name}: names a file that cannot be used`),
      );
    }
  });

  it('finds unreachable services and expired certificates, and prints no password', async () => {
    const authority = TestAuthority.root(user.home, 'Root');
    const expired = authority.issue({ from: '20190101000000Z', until: '20200101000000Z' });
    const port = await freePort();
    const broken = {
      ...{ SERVICE_MASTER_SECRET: SECRET, ...DATABASE_TIMES },
      DATABASE_URL: `postgres://gate:hush-hush@127.0.0.1:${port}/gate`,
      REDIS_URL: `redis://:hush-hush@127.0.0.1:${port}`,
      SERVICE_CA_BUNDLE: expired.certPath,
      AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([
        {
          ...{ id: 'okta', type: 'oidc', issuer: `http://127.0.0.1:${port}` },
          ...{ clientId: 'gatehouse', clientSecret: 'hush-hush' },
        },
      ]),
    };
    const { code, checks } = await diagnose(broken);
    expect(code).toBe(1);
    for (const name of ['database', 'redis', 'providers']) {
      expect(checks[name]).toContainEqual(expect.stringMatching(/^failed: .*(ECONN|refused)/));
    }
    expect(checks['expiry']).toEqual([expect.stringMatching(/^failed: .*expired on 2020-01-01/)]);
    expect(JSON.stringify(checks)).not.toContain('hush-hush');
  });

  it('exits with 78 and checks nothing else where the configuration is invalid', async () => {
    const { code, checks } = await diagnose({ ...env, PORT: 'many' });
    expect(code).toBe(78);
    expect(checks).toMatchObject({
      configuration: [expect.stringMatching(/^failed: PORT: must be/)],
      database: ['skipped: The configuration is invalid.'],
    });
  });
});

describe('gatehouse doctor with the embedded database', () => {
  it('leaves the database to a running server, and opens it otherwise', async () => {
    const { path: dataDir, remove } = await freshDataDirectory();
    const store = { databaseUrl: null, env: { SERVICE_DATA_DIR: dataDir }, drop: remove };
    const absent = await diagnose(store.env);
    expect(absent).toMatchObject({
      code: 0,
      checks: { database: [expect.stringMatching(/^skip/)] },
    });
    expect(await readdir(dataDir)).toEqual([]);

    const server = await startServer({ store });
    const used = await diagnose(store.env);
    expect(used).toMatchObject({
      code: 0,
      checks: {
        database: [`ok: A running server uses ${dataDir}.`],
        'master secret': [expect.stringMatching(/^skipped: The running server/)],
        disk: [expect.stringMatching(/MiB are free/)],
      },
    });
    await server.kill('SIGTERM');
    const stopped = await diagnose(store.env);
    expect(stopped).toMatchObject({
      code: 0,
      checks: {
        schema: ['ok: It is that of this version.'],
        'master secret': [expect.stringMatching(/^ok/)],
      },
    });

    // Only root can change the owner.
    if (process.getuid?.() === 0) {
      await chown(join(dataDir, 'db'), 65534, 65534);
      const foreign = await diagnose(store.env);
      expect(foreign.checks['database']).toEqual([expect.stringMatching(/^skip.* the user 65534/)]);
      const copy = await user.run(['copy', '--json', '--from-data-dir', dataDir]);
      expect(copy).toMatchObject({ code: 78, stderr: expect.stringContaining('wrong-user') });
      await chown(join(dataDir, 'db'), 0, 0);
    }

    await rm(join(dataDir, 'master-secret'));
    const lost = await diagnose(store.env);
    expect(lost).toMatchObject({
      code: 1,
      checks: { 'master secret': [expect.stringMatching(/^failed: .*backup/)] },
    });
    expect(await readdir(dataDir)).not.toContain('master-secret');
    await store.drop();
  });
});
