import { randomBytes } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { call, logIn, makeDeviceKey } from '../../helpers/client.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import {
  createDatabase,
  migrateDatabase,
  startPostgres,
  type Service,
} from '../../fixtures/programs/services-fixture.js';
import { waitFor } from '../../helpers/wait.js';

const ROLE = 'gatehouse';
const newSecret = (): string => randomBytes(36).toString('base64');
let directory: string;
let postgres: Service;
let admin: Client;
let databaseUrl: (password: string) => string;
let server: Server;
let masterSecret: string;

/** Replaces a file as a Kubernetes volume does: at once, by a rename. */
async function write(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(`${path}.new`, `${text}\n`);
  await rename(`${path}.new`, path);
  return path;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'gatehouse-rotation-'));
  const rules = 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n';
  const hba = join(tmpdir(), `gatehouse-hba-${process.pid}.conf`);
  await writeFile(hba, `local all all trust\n${rules}`);
  postgres = await startPostgres({ durable: false, settings: { hba_file: hba } });
  admin = new Client({ connectionString: postgres.url });
  await admin.connect();
  await rm(hba);
  const database = await createDatabase(postgres.url);
  const name = new URL(database.url).pathname.slice(1);
  await admin.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'first'`);
  await admin.query(`ALTER DATABASE "${name}" OWNER TO ${ROLE}`);
  databaseUrl = (password) => {
    const url = new URL(database.url);
    return Object.assign(url, { username: ROLE, password }).href;
  };
  migrateDatabase(databaseUrl('first'));
  masterSecret = newSecret();
  const env = {
    DATABASE_URL_FILE: await write('database-url', databaseUrl('first')),
    SERVICE_MASTER_SECRET_FILE: await write('master', masterSecret),
    METRICS_TOKEN_FILE: await write('metrics', 'the-first-token-of-metrics'),
  };
  const store = { databaseUrl: null, env, drop: () => Promise.resolve() };
  server = await startServer({ store });
});
afterAll(async () => {
  await server.stop();
  await admin.end();
  await postgres.stop();
});

describe('a secret whose file changes', () => {
  it('opens new connections to the database with the new password', async () => {
    await admin.query(`ALTER ROLE ${ROLE} PASSWORD 'second'`);
    const cut = (): Promise<unknown> =>
      admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1', [
        ROLE,
      ]);
    await cut();
    await waitFor('the old password is refused', async () => {
      return (await call(server, 'GET', '/readyz')).status === 503;
    });
    await write('database-url', databaseUrl('second'));
    await waitFor('the new password is used', async () => {
      return (await call(server, 'GET', '/readyz')).status === 200;
    });
    await logIn(server, makeDeviceKey());
  });

  it('signs new tokens with the new master secret, and accepts those of the old one', async () => {
    const key = makeDeviceKey();
    const before = await logIn(server, key);
    const keyIdOf = (token: string): unknown =>
      (
        JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as {
          kid: string;
        }
      ).kid;
    await write('master', newSecret());
    const after = await waitFor('a token of the new secret', async () => {
      const { token } = await logIn(server, key);
      return keyIdOf(token) !== keyIdOf(before.token) && token;
    });
    for (const token of [before.token, after]) {
      expect((await call(server, 'GET', '/v1/account/profile', { token })).status).toBe(200);
    }
    // The secret is too short: the old one stays in use, and the log has the reason.
    await write('master', 'short');
    await server.logged(/changed secret is not used.*at least 32 bytes/);
    expect(keyIdOf((await logIn(server, key)).token)).toBe(keyIdOf(after));
    const token = 'the-first-token-of-metrics';
    const page = await call(server, 'GET', '/metrics', { token });
    expect(page.text).toContain('gatehouse_configuration_files_unused 1\n');
  });

  it('accepts only the new token for the metrics', async () => {
    const status = async (token: string): Promise<number> =>
      (await call(server, 'GET', '/metrics', { token })).status;
    expect(await status('the-first-token-of-metrics')).toBe(200);
    await write('metrics', 'the-second-token-of-metrics');
    await waitFor(
      'the new token',
      async () => (await status('the-second-token-of-metrics')) === 200,
    );
    expect(await status('the-first-token-of-metrics')).toBe(401);
    expect(server.logs()).not.toMatch(/second-token|postgres:\/\//);
  });
});
