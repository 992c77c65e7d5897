import { chmod, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { AdminCalls, AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';
import { useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { runSql } from '../../fixtures/programs/services-fixture.js';
import { INSPECTOR, PROGRAMS, programsOf, programTokens } from '../../fixtures/programs-fixture.js';
import { backends, basic, postForm } from '../../fixtures/resource-server-fixture.js';
import { sessionIdOf } from '../../fixtures/sessions-fixture.js';
import { HoldingProxy } from '../../helpers/holding-proxy.js';
import { logIn, type Json } from '../../helpers/client.js';

const WORDS = 'Read the notes that you have written and those that others have shared with you';
const setup = backends([
  {
    id: 'notes',
    name: 'Notes',
    programs: { ...PROGRAMS, scopes: { ...PROGRAMS.scopes, 'notes:read': WORDS } },
  },
  { id: 'files', programs: { ...PROGRAMS, clients: ['inspector'] } },
]);
const tokens = await AdminTokensFile.create();
const server = await startServer({
  env: {
    ...setup.env,
    ...tokens.env,
    AUTH_PROGRAM_CLIENTS_CONFIG_JSON: JSON.stringify([{ ...INSPECTOR, name: 'I'.repeat(100) }]),
  },
});
const admin = new AdminCalls(await adminUrlOf(server), tokens.operator);
const proxy = await HoldingProxy.start(server);
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

const user = useCliUser();
let session: { readonly token: string; readonly accountId: string };

beforeEach(async () => {
  session = await logIn(server);
});

/** Runs a command with the session of the person. */
const run = (args: readonly string[], env = {}) =>
  user.run(args, { GATEHOUSE_SERVER: server.url, GATEHOUSE_TOKEN: session.token, ...env });

const pathOf = (name: string): string => join(user.configDirectory, 'programs', `${name}.json`);
const fileOf = async (name: string): Promise<Json> =>
  JSON.parse(await readFile(pathOf(name), 'utf8')) as Json;

const add = (name: string, ...args: string[]) =>
  run(['programs', 'add', name, '--resource', 'notes', ...args]);

const added = async (name: string, ...args: string[]): Promise<Json> => {
  const { code, stderr, stdout } = await add(name, '--json', ...args);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as Json;
};

const tokenOf = (name: string, env = {}) => user.run(['programs', 'token', name], env);

/** Prints a token, and nothing else. */
const printedToken = async (name: string): Promise<string> => {
  const { code, stdout, stderr } = await tokenOf(name);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  return stdout.trim();
};

/** The code and the exit code of a failure, which prints nothing else. */
const failure = async (...args: string[]): Promise<unknown[]> => {
  const { code, stdout, stderr } = await run([...args, '--json']);
  const { error } = JSON.parse(stderr) as { error: Json };
  expect(stdout).toBe('');
  return [code, error['code']];
};

const isActive = async (token: string): Promise<unknown> =>
  (
    await postForm(
      server,
      '/v1/oauth/introspect',
      { token },
      basic('notes', setup.secretOf('notes')),
    )
  ).body['active'];

/** Moves the last use of a grant into the past: the next one replaces its refresh token. */
const age = (id: unknown): Promise<unknown> =>
  runSql(
    server.databaseUrl,
    `UPDATE program_grant SET code_used_at = code_used_at - interval '2 minutes',
       superseded_at = ARRAY(SELECT at - interval '2 minutes' FROM unnest(superseded_at) AS at)
     WHERE id = $1`,
    [id],
  );

describe('gatehouse programs add', () => {
  it('keeps the access in a file that its owner alone can read, and lists it', async () => {
    const { code, stdout } = await add('backup', '--scope', 'notes:write', '--expires', '30d');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Added backup at Notes until \d{4}-/);
    expect(stdout).toContain('Change your notes');
    const modes = await Promise.all(
      [pathOf('backup'), join(user.configDirectory, 'programs')].map(
        async (path) => (await stat(path)).mode & 0o777,
      ),
    );
    expect(modes).toEqual([0o600, 0o700]);
    expect(await readdir(join(user.configDirectory, 'programs'))).toEqual(['backup.json']);
    const [listed] = await programsOf(server, session.token);
    expect(listed).toMatchObject({
      id: (await fileOf('backup'))['id'],
      kind: 'file',
      client: { name: 'backup' },
      scopes: [{ id: 'notes:read' }, { id: 'notes:write' }],
    });
    const days = (Number(listed?.['expiresAt']) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
  });

  it.each([
    ['a name that is no file name', ['../backup', '--resource', 'notes'], [2, 'usage']],
    ['no backend', ['backup'], [2, 'usage']],
    ['no time', ['backup', '--resource', 'notes', '--expires', 'soon'], [2, 'usage']],
    ['an unknown backend', ['backup', '--resource', 'other'], [1, 'invalid-target']],
    [
      'a backend that does not list files',
      ['backup', '--resource', 'files'],
      [1, 'invalid-target'],
    ],
    ['an unknown scope', ['backup', '--resource', 'notes', '--scope', 'x'], [1, 'invalid-scope']],
  ])('refuses %s, and stores nothing', async (_what, args, expected) => {
    expect(await failure('programs', 'add', ...args)).toEqual(expected);
    expect(await programsOf(server, session.token)).toEqual([]);
    expect(await readdir(join(user.configDirectory, 'programs')).catch(() => [])).toEqual([]);
  });

  it('needs a sign-in of the last 15 minutes, and says how to get one', async () => {
    await runSql(
      server.databaseUrl,
      `UPDATE session SET created_at = created_at - interval '901 seconds' WHERE id = $1`,
      [sessionIdOf(session.token)],
    );
    const { code, stderr } = await add('backup');
    expect(code).toBe(1);
    expect(stderr).toContain('Sign in again, then repeat it: gatehouse login');
  });

  it('replaces the file of an access that has ended, and no other', async () => {
    const { id } = await added('backup');
    expect(await failure('programs', 'add', 'backup', '--resource', 'notes')).toEqual([
      1,
      'program-exists',
    ]);
    expect((await fileOf('backup'))['id']).toBe(id);
    await admin.remove(`${session.accountId}/programs/${String(id)}`);
    await added('backup');
    expect((await fileOf('backup'))['id']).not.toBe(id);
    await printedToken('backup');
  });

  it('ends the access again where the file cannot be written', async () => {
    await added('other');
    const failing = {
      NODE_OPTIONS: `--import=${replacing('throw Object.assign(new Error(), {code: "ENOSPC", path: "disk"})')}`,
    };
    const { code } = await run(['programs', 'add', 'backup', '--resource', 'notes'], failing);
    expect(code).toBe(78);
    expect(await programsOf(server, session.token)).toMatchObject([{ client: { name: 'other' } }]);
  });
});

/** A module that does this in place of the replacement of a file. */
const replacing = (effect: string): string =>
  `data:text/javascript,${encodeURIComponent(
    `import fs from 'node:fs/promises'; import { syncBuiltinESMExports } from 'node:module';
     fs.rename = async () => { ${effect} }; syncBuiltinESMExports();`,
  )}`;

describe('gatehouse programs token', () => {
  it('prints tokens for the backend without a session, ten at once', async () => {
    const { id } = await added('backup');
    const [first, before] = [await printedToken('backup'), await fileOf('backup')];
    expect(decodeJwt(first)).toMatchObject({ client_id: 'gatehouse-file', grant_id: id });
    await age(id);
    const printed = await Promise.all(Array.from({ length: 10 }, () => printedToken('backup')));
    expect(new Set(printed).size).toBe(10);
    const active = await Promise.all(printed.map(isActive));
    expect(active).toEqual(active.map(() => true));
    expect((await fileOf('backup'))['refreshToken']).not.toBe(before['refreshToken']);
    expect(await readdir(join(user.configDirectory, 'programs'))).toEqual(['backup.json']);
    await age(id);
    expect(await isActive(await printedToken('backup'))).toBe(true);
  });

  it('prints a token after it was killed between the answer of the server and the file', async () => {
    const { id } = await added('backup');
    const before: Json = { ...(await fileOf('backup')), server: proxy.url };
    await writeFile(pathOf('backup'), JSON.stringify(before));
    await age(id);
    const held = proxy.hold(/^POST \/v1\/oauth\/token/, 'answer');
    const { child, exited } = user.start(['programs', 'token', 'backup']);
    const call = await held;
    child.kill('SIGKILL');
    expect((await exited).stdout).toBe('');
    call.release();
    expect(await fileOf('backup')).toEqual(before);
    expect(await isActive(await printedToken('backup'))).toBe(true);
    expect((await fileOf('backup'))['refreshToken']).not.toBe(before['refreshToken']);
    expect((await stat(pathOf('backup'))).mode & 0o777).toBe(0o600);
    expect(await readdir(join(user.configDirectory, 'programs'))).toEqual(['backup.json']);
  });

  it('prints a token after it was killed while it replaced the file', async () => {
    const { id } = await added('backup');
    const before = await fileOf('backup');
    await age(id);
    const killed = {
      NODE_OPTIONS: `--import=${replacing('process.kill(process.pid, "SIGKILL"); await new Promise(() => {});')}`,
    };
    expect(await tokenOf('backup', killed)).toMatchObject({ code: null, stdout: '' });
    expect(await fileOf('backup')).toEqual(before);
    const directory = join(user.configDirectory, 'programs');
    const left = (await readdir(directory)).find((name) => name.endsWith('.tmp')) ?? '';
    const old = new Date(Date.now() - 2 * 3_600_000);
    await utimes(join(directory, left), old, old);
    expect(await isActive(await printedToken('backup'))).toBe(true);
    expect((await fileOf('backup'))['refreshToken']).not.toBe(before['refreshToken']);
    expect(await readdir(directory)).toEqual(['backup.json']);
  });

  it.each([
    ['the account is disabled', ({ accountId }: typeof session) => admin.act(accountId, 'disable')],
    [
      'the person ended it',
      (_session: typeof session, id: string) =>
        run(['programs', 'end', id]).then(async () => undefined),
    ],
  ])('exits with 3, and prints no token, once %s', async (_what, end) => {
    const { id } = await added('backup');
    const kept = await readFile(pathOf('backup'), 'utf8');
    await end(session, String(id));
    await writeFile(pathOf('backup'), kept, { mode: 0o600 });
    expect(await failure('programs', 'token', 'backup')).toEqual([3, 'invalid-grant']);
  });

  it('exits with 3 for a program that this computer does not have', async () => {
    expect(await failure('programs', 'token', 'backup')).toEqual([3, 'no-program']);
  });

  it('exits with 4 while the server cannot be reached, and keeps the file', async () => {
    await added('backup');
    const file = { ...(await fileOf('backup')), server: `http://127.0.0.1:${await freePort()}` };
    await writeFile(pathOf('backup'), JSON.stringify(file));
    expect(await failure('programs', 'token', 'backup')).toEqual([4, 'unreachable']);
    expect(await fileOf('backup')).toEqual(file);
  });

  it.each(['640', '601'])('refuses a file of mode %s', async (mode) => {
    await added('backup');
    await chmod(pathOf('backup'), parseInt(mode, 8));
    const { code, stdout, stderr } = await tokenOf('backup');
    expect([code, stdout]).toEqual([78, '']);
    expect(stderr).toContain(`chmod 600 ${pathOf('backup')}`);
    await chmod(pathOf('backup'), 0o600);
    await printedToken('backup');
  });

  it('refuses a damaged file', async () => {
    await added('backup');
    await writeFile(pathOf('backup'), '{"server": "http');
    expect(await failure('programs', 'token', 'backup')).toEqual([78, 'unusable-file']);
  });
});

describe('gatehouse programs', () => {
  const withBoth = async () => {
    await programTokens(server, session.token);
    await programTokens(server, session.token);
    return added('backup', '--scope', 'notes:read');
  };

  it('lists programs by their names and places, in at most 80 columns', async () => {
    const { id } = await withBoth();
    const { code, stdout, stderr } = await run(['programs']);
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(lines.filter((line) => line === 'Files')).toHaveLength(1);
    expect(stdout).toContain(`  ${String(id)}\n    Name        backup\n    At          Notes\n`);
    expect(stdout).toContain('a program on the computer of the browser');
    const words = stdout.replaceAll(/\s+/g, ' ');
    expect(words).toContain(WORDS);
    const operator = 'configured by the operator of the server, as inspector';
    expect(lines.filter((line) => line === `  ${operator}`)).toHaveLength(1);
    expect(stdout).toContain('  added by this command, as gatehouse-file\n');
    expect(stdout).toMatch(/Allowed {5}\d{4}-\d\d-\d\d \d\d:\d\d UTC with the device key/);
    expect(stdout).toMatch(/Last used {3}\d{4}-\d\d-\d\d \d\d:\d\d UTC from 127\.0\.0\.1/);
  });

  it('lists programs for scripts', async () => {
    const { id } = await withBoth();
    const json = await run(['programs', '--json']);
    const rows = json.stdout.trim().split('\n');
    expect(rows.map((row) => JSON.parse(row) as Json)).toEqual(
      await programsOf(server, session.token),
    );
    const fields = await run(['programs', 'list', '--fields', 'kind,id']);
    expect(fields.stdout.split('\n')[0]).toBe(`file  ${String(id)}`);
  });

  it('ends one by the beginning of its id, with its file, and no other', async () => {
    const { id } = await withBoth();
    const { code, stdout } = await run(['programs', 'end', String(id).slice(0, 8)]);
    expect([code, stdout]).toEqual([0, `Ended backup at Notes (${String(id)}).\n`]);
    expect(await programsOf(server, session.token)).toHaveLength(2);
    expect(await readdir(join(user.configDirectory, 'programs'))).toEqual([]);
    expect(await failure('programs', 'end', String(id))).toEqual([1, 'not-found']);
  });

  it('ends each access of one program, or all', async () => {
    await withBoth();
    const ended = await run(['programs', 'end', '--program', 'inspector', '--json']);
    expect(ended.stdout.trim().split('\n')).toHaveLength(2);
    expect(await programsOf(server, session.token)).toMatchObject([{ kind: 'file' }]);
    expect((await run(['programs', 'end', '--all'])).stdout).toMatch(/^Ended backup/);
    expect(await programsOf(server, session.token)).toEqual([]);
    const none = await run(['programs', 'end', '--all']);
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'No program acts for you.\n' });
    expect(await run(['programs'])).toEqual(none);
  });

  it('ends all also if one ends meanwhile', async () => {
    await withBoth();
    const held = proxy.hold(/^DELETE/, 'request');
    const ending = run(['programs', 'end', '--all'], { GATEHOUSE_SERVER: proxy.url });
    const first = await held;
    for (const { id } of (await programsOf(server, session.token)).slice(0, 2)) {
      await run(['programs', 'end', id]);
    }
    first.release();
    expect(await ending).toMatchObject({ code: 0, stderr: '' });
    expect(await programsOf(server, session.token)).toEqual([]);
  });

  it.each([
    [['1234abcd'], [1, 'not-found']],
    [
      ['--program', 'inspector'],
      [1, 'not-found'],
    ],
    [['123'], [2, 'usage']],
    [[], [2, 'usage']],
    [
      ['1234abcd', '--all'],
      [2, 'usage'],
    ],
    [
      ['--program', 'inspector', '--all'],
      [2, 'usage'],
    ],
  ])('refuses to end %j', async (args, expected) => {
    await added('backup');
    expect(await failure('programs', 'end', ...args)).toEqual(expected);
    expect(await programsOf(server, session.token)).toHaveLength(1);
  });

  it('says in a sentence that a server has no programs', async () => {
    const without = await startServer();
    const { token } = await logIn(without);
    const env = { GATEHOUSE_SERVER: without.url, GATEHOUSE_TOKEN: token };
    const sentence = `gatehouse: No backend of ${without.url} accepts programs.\n`;
    for (const args of [['list'], ['end', '--all'], ['add', 'other', '--resource', 'notes']]) {
      const { code, stdout, stderr } = await run(['programs', ...args], env);
      expect([code, stdout, stderr]).toEqual([1, '', sentence]);
    }
    await added('backup');
    const file = { ...(await fileOf('backup')), server: without.url };
    await writeFile(pathOf('backup'), JSON.stringify(file));
    expect(await tokenOf('backup')).toEqual({ code: 1, stdout: '', stderr: sentence });
    await without.stop();
  });
});
