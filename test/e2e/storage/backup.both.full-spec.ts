import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  call,
  type DeviceKey,
  logIn,
  type Login,
  makeDeviceKey,
  refusalOf,
} from '../../helpers/client.js';
import { connect } from '../../helpers/client-live.js';
import { IS_POSTGRES, type Server, startServer } from '../../fixtures/programs/server-fixture.js';

const ROOT = join(import.meta.dirname, '../../..');
const BINARIES = '/usr/lib/postgresql';

const run = promisify(execFile);
let work: string;

beforeAll(() => {
  work = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'));
  const command = join(work, 'gatehouse');
  writeFileSync(
    command,
    `#!/bin/sh\nexec "${process.execPath}" "${ROOT}/dist/bin/gatehouse.js" "$@"\n`,
  );
  chmodSync(command, 0o755);
});

afterAll(() => rmSync(work, { recursive: true, force: true }));

function commandsUnder(heading: string): string[] {
  const page = readFileSync(join(ROOT, 'docs/backup-and-restore.md'), 'utf8');
  const section = page.split(/^## /m).find((one) => one.startsWith(heading)) ?? '';
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
}

async function follow(commands: string, env: Readonly<Record<string, string>>): Promise<void> {
  const versions = existsSync(BINARIES) ? readdirSync(BINARIES) : [];
  const path = [work, ...versions.map((one) => join(BINARIES, one, 'bin')), process.env['PATH']];
  await run('/bin/sh', ['-euc', commands], {
    cwd: work,
    env: { PATH: path.join(':'), HOME: work, ...env },
  });
}

interface BackupFixture {
  readonly key: DeviceKey;
  readonly login: Login;
  readonly loggedOut: Login;
  readonly content: unknown;
}

const settings = (server: Server, token: string) =>
  call(server, 'GET', '/v2/account/settings', { token });

async function populate(server: Server): Promise<BackupFixture> {
  const key = makeDeviceKey();
  const [login, loggedOut] = [await logIn(server, key), await logIn(server, key)];
  await call(server, 'POST', '/v1/auth/logout', loggedOut);
  await call(server, 'POST', '/v1/push-tokens', { ...login, body: { token: 'before' } });
  const body = { content: { t: 'encrypted', c: 'c2VjcmV0' }, expectedVersion: 0 };
  const written = await call(server, 'POST', '/v2/account/settings', { ...login, body });
  expect(written.body).toMatchObject({ success: true });
  return { key, login, loggedOut, content: (await settings(server, login.token)).body };
}

async function expectRestored(server: Server, fixture: BackupFixture): Promise<void> {
  const { key, login, loggedOut } = fixture;
  const tokens = await call(server, 'GET', '/v1/push-tokens', login);
  expect(tokens.body['tokens']).toMatchObject([{ token: 'before' }]);
  expect((await settings(server, login.token)).body).toEqual(fixture.content);
  expect(refusalOf(await call(server, 'GET', '/v1/push-tokens', loggedOut))).toEqual({
    status: 401,
    code: 'token-revoked',
  });
  expect(await logIn(server, key)).toMatchObject({ accountId: login.accountId, created: false });
  const live = await connect(server, { token: login.token });
  expect(await live.next('hello')).toMatchObject({ seq: 2 });
  live.close();
}

const onPostgres = IS_POSTGRES ? describe : describe.skip;
onPostgres('docs/backup-and-restore.md on PostgreSQL', () => {
  it('restores exactly the data of the backup', async () => {
    const server = await startServer();
    const fixture = await populate(server);
    const [dump = '', create = '', migrate = ''] = [
      ...commandsUnder('PostgreSQL').slice(0, 1),
      ...commandsUnder('PostgreSQL').slice(1),
    ];
    const restored = new URL(server.databaseUrl ?? '');
    restored.pathname = '/gatehouse_restored';
    const secret = 'a-master-secret-that-only-tests-know-0123456789';
    const env = {
      DATABASE_URL: server.databaseUrl ?? '',
      RESTORED_DATABASE_URL: restored.href,
      SERVICE_MASTER_SECRET: secret,
    };
    await follow(dump, env);
    await call(server, 'POST', '/v1/push-tokens', { ...fixture.login, body: { token: 'after' } });
    const late = await logIn(server);
    await follow(create, env);
    await follow(migrate, env);

    const startOn = (masterSecret: string): Promise<Server> =>
      startServer({
        store: {
          databaseUrl: restored.href,
          env: { DATABASE_URL: restored.href, SERVICE_MASTER_SECRET: masterSecret },
          drop: () => Promise.resolve(),
        },
      });
    const again = await startOn(secret);
    await expectRestored(again, fixture);
    expect((await call(again, 'GET', '/v1/push-tokens', late)).body['code']).toBe('token-revoked');
    await again.stop();

    const keyless = await startOn('another-secret-that-the-backup-never-saw-0123456789');
    const refused = await call(keyless, 'GET', '/v1/push-tokens', fixture.login);
    expect(refusalOf(refused)).toEqual({ status: 401, code: 'invalid-token' });
    expect(await logIn(keyless, fixture.key)).toMatchObject({ created: false });
    await keyless.stop();
    // PostgreSQL may not have noticed the end of the server's connections.
    await follow('dropdb --force --maintenance-db="$DATABASE_URL" gatehouse_restored', env);
    await server.stop();
  });
});

const onEmbedded = IS_POSTGRES ? describe.skip : describe;
onEmbedded('docs/backup-and-restore.md on the embedded database', () => {
  it('restores the data and the master secret of the backup', async () => {
    const directory = join(work, 'data');
    const storeAt = (path: string) => ({
      databaseUrl: null,
      env: { SERVICE_DATA_DIR: path },
      drop: () => Promise.resolve(),
    });
    const server = await startServer({ store: storeAt(directory) });
    const fixture = await populate(server);
    await server.kill('SIGTERM');
    const env = { SERVICE_DATA_DIR: directory, RESTORED_DATA_DIR: join(work, 'restored') };
    for (const commands of commandsUnder('The embedded database')) {
      await follow(commands, env);
    }
    const again = await startServer({ store: storeAt(env.RESTORED_DATA_DIR) });
    await expectRestored(again, fixture);
    await again.stop();
    rmSync(join(env.RESTORED_DATA_DIR, 'master-secret'));
    const refused = await run(process.execPath, [join(ROOT, 'dist/bin/server.js')], {
      env: { PATH: process.env['PATH'], PORT: '0', SERVICE_DATA_DIR: env.RESTORED_DATA_DIR },
    }).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('Restore the file from a backup') as string,
    });
    expect(readdirSync(env.RESTORED_DATA_DIR)).not.toContain('master-secret');
  });
});
