import { cp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { call } from '../../helpers/client.js';
import { createCliUser, UNREAD, useCliUser } from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';

const user = useCliUser();

let server = await startServer({ env: { PORT: String(await freePort()) } });

afterAll(() => server.stop());

const json = async <Answer>(...args: string[]): Promise<Answer> => {
  const result = await user.run([...args, '--json']);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(result.stdout) as Answer;
};

interface LoggedIn {
  readonly accountId: string;
  readonly created: boolean;
  readonly server: string;
}

const signUp = () => json<LoggedIn>('signup', '--server', server.url);
const logIn = () => json<LoggedIn>('login', '--server', server.url);

const filesUnder = async (directory: string): Promise<Record<string, string>> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = [directory, ...entries.map(({ parentPath, name }) => join(parentPath, name))];
  const rows = paths.map(async (path) => [path, ((await stat(path)).mode & 0o777).toString(8)]);
  return Object.fromEntries(await Promise.all(rows)) as Record<string, string>;
};

const storedFile = async (name: string): Promise<Record<string, string>> => {
  const paths = Object.keys(await filesUnder(user.configDirectory));
  const path = paths.find((candidate) => candidate.endsWith(`/${name}`)) ?? '';
  return JSON.parse(await readFile(path, 'utf8')) as Record<string, string>;
};

it('is executable from a shell after every build', async () => {
  const { mode } = await stat(new URL('../../../dist/bin/gatehouse.js', import.meta.url));
  expect((mode & 0o777).toString(8)).toBe('755');
});

describe('gatehouse signup and login', () => {
  it('creates an account once and finds it again with the same device key', async () => {
    const first = await signUp();
    const key = await storedFile('device-key.json');
    const second = await logIn();
    expect(first.created).toBe(true);
    expect(second).toEqual({ server: server.url, accountId: first.accountId, created: false });
    expect(await storedFile('device-key.json')).toEqual(key);
  });

  it('stores key and session readable only by their owner, and no partial file', async () => {
    await signUp();
    const modes = await filesUnder(user.configDirectory);
    const names = Object.keys(modes).filter((path) => path.endsWith('.json'));
    expect(names.map((path) => path.split('/').at(-1)).sort()).toEqual([
      'device-key.json',
      'key-account.json',
      'key-server.json',
      'last-server.json',
      'session.json',
    ]);
    for (const [path, mode] of Object.entries(modes)) {
      expect([path, mode]).toEqual([path, names.includes(path) ? '600' : '700']);
    }
  });

  it('creates one key, and so one account, when it runs several times at once', async () => {
    const args = ['signup', '--server', server.url, '--json'];
    const runs = await Promise.all(Array.from({ length: 4 }, () => user.run(args)));
    const done = runs.filter(({ code }) => code === 0);
    const ids = done.map(({ stdout }) => (JSON.parse(stdout) as LoggedIn).accountId);
    expect(new Set(ids).size).toBe(1);
    // A run that began after another had succeeded is refused.
    runs
      .filter(({ code }) => code !== 0)
      .forEach(({ stderr }) => expect(stderr).toContain('"device-key-exists"'));
    expect(await logIn()).toMatchObject({ accountId: ids[0], created: false });
  });

  it('reports in a sentence the account that it created', async () => {
    const { stdout } = await user.run(['signup', '--server', `${server.url}/`]);
    expect(stdout).toMatch(/^Created the account [\w-]+ on http:\/\/127[^ ]+ and signed in\.\n/);
    expect(stdout).toContain('Back it up: gatehouse key show');
  });

  it('stores logins by server: the last one is the default, --server and the variable override it', async () => {
    const { accountId } = await signUp();
    const other = `http://localhost:${server.port}`;
    const second = await json<{ accountId: string }>('signup', '--server', other);
    expect(second.accountId).not.toBe(accountId);
    expect(await json('whoami')).toMatchObject({ server: other, id: second.accountId });
    expect(await json('whoami', '--server', server.url)).toMatchObject({ id: accountId });
    const byVariable = await user.run(['whoami', '--json'], { GATEHOUSE_SERVER: server.url });
    expect(JSON.parse(byVariable.stdout)).toMatchObject({ id: accountId });
  });
});

describe('gatehouse whoami', () => {
  it('shows the account as the server sees it', async () => {
    const { accountId } = await signUp();
    expect(await json('whoami')).toMatchObject({ id: accountId, keyMode: 'keyed', identities: [] });
    const { code, stdout } = await user.run(['whoami']);
    expect(code).toBe(0);
    expect(stdout).toContain(accountId);
    expect(stdout).toContain('device key');
  });

  it('loads nothing of the server and nothing for live updates', async () => {
    await signUp();
    const coverage = join(user.home, 'coverage');
    await user.run(['whoami'], { NODE_V8_COVERAGE: coverage });
    const [file = ''] = await readdir(coverage);
    const { result } = JSON.parse(await readFile(join(coverage, file), 'utf8')) as {
      result: { url: string }[];
    };
    const files = result
      .map(({ url }) => url)
      .filter((url) => url.includes('/dist/bin/') && url.endsWith('.cjs'));
    expect(files).not.toEqual([]);
    const texts = await Promise.all(files.map((file) => readFile(new URL(file), 'utf8')));
    // Each linked module starts with the path of its source.
    const loaded = texts
      .flatMap((text) => text.match(/(?<=^\/\/ )\S+\.js$/gm) ?? [])
      .map((path) => path.replace(/^(?:\.\.\/)*(?:dist\/)?/, ''));
    const actions = /^apps\/cli\/\w+\/(?!.*\.command\.js$)/;
    expect(loaded.filter((path) => actions.test(path)).sort()).toEqual([
      'apps/cli/account/current-session.js',
      'apps/cli/account/server-store.js',
      'apps/cli/account/this-computer.js',
      // These are help and options of several commands, whose code is loaded only when one is run.
      'apps/cli/notify/build-previews.js',
      'apps/cli/operator/with-administration.js',
      'apps/cli/spool/spool-name.js',
    ]);
    const heavy = /@nestjs|typeorm|socket\.io|\/fastify|class-validator|^server\//;
    expect(loaded.filter((path) => heavy.test(path))).toEqual([]);
  });
});

describe('gatehouse tokens', () => {
  it('adds, lists and removes push tokens', async () => {
    await signUp();
    expect(await json('tokens', 'add', 'first/one?')).toEqual({ token: 'first/one?', saved: true });
    const address = 'https://gate.example.org';
    await json('tokens', 'add', 'second', '--client-server-url', address, '--name', 'My phone');
    const { stdout: listed } = await user.run(['tokens', 'list', '--json']);
    expect(
      listed
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([
      { token: 'second', clientServerUrl: address, name: 'My phone' },
      { token: 'first/one?', clientServerUrl: null },
    ]);
    const { stdout: fields } = await user.run(['tokens', 'list', '--fields', 'token,name']);
    expect(fields).toBe('second      My phone\nfirst/one?  -\n');
    expect(await user.run(['tokens', 'list', '--fields', 'token,nam'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('id, token, name,') as string,
    });
    await json('tokens', 'remove', 'first/one?');
    const { stdout } = await user.run(['tokens', 'list']);
    expect(stdout).toMatch(
      /^[\d:-]+ [\d:]+ UTC {2}My phone {2}second {2}https:\/\/gate\.example\.org {2}yes\n$/,
    );
    await json('tokens', 'remove', 'second');
    const none = await user.run(['tokens', 'list']);
    expect(none).toMatchObject({ code: 0, stdout: '' });
    expect(none.stderr).toContain('No push tokens.');
  });

  it('names the token that the server refuses, and the reason', async () => {
    await signUp();
    const { code, stderr } = await user.run(['tokens', 'add', '']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/token: .*1 to 1024 printable characters\n {2}\(request [\w-]+\)\n$/);
  });
});

describe('gatehouse watch', () => {
  it('prints each update as a JSON line and exits with 0 on an interrupt', async () => {
    await signUp();
    const watch = user.start(['watch', '--json']);
    await watch.until(() => watch.stderr().includes('Connected'));
    await json('tokens', 'add', 'one');
    await json('tokens', 'add', 'two');
    await watch.until(() => watch.stdout().split('\n').length > 4);
    watch.child.kill('SIGINT');
    const { code, stdout } = await watch.exited;
    const updates = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(code).toBe(0);
    expect(updates).toMatchObject([
      { seq: 1, body: { t: 'push-tokens-changed' } },
      { seq: 2, body: { t: 'account-settings-changed' } },
      { seq: 3, body: { t: 'push-tokens-changed' } },
      { seq: 4, body: { t: 'account-settings-changed' } },
    ]);
  });

  it('exits with 3 when its session is revoked', async () => {
    await signUp();
    const watch = user.start(['watch']);
    await watch.until(() => watch.stderr().includes('Connected'));
    await json('logout');
    const { code, stderr } = await watch.exited;
    expect(code).toBe(3);
    expect(stderr).toContain('Run: gatehouse login');
  });

  it('ends with 0 at the next update once its output has no reader', async () => {
    await signUp();
    const unread = await createCliUser(UNREAD);
    const env = { XDG_CONFIG_HOME: dirname(user.configDirectory) };
    const watch = unread.start(['watch'], env);
    await watch.until(() => watch.stderr().includes('Connected'));
    await json('tokens', 'add', 'one');
    expect(await watch.exited).toMatchObject({ code: 0 });
  });

  it('reconnects when the server restarts', async () => {
    await signUp();
    const watch = user.start(['watch']);
    await watch.until(() => watch.stderr().includes('Connected'));
    server = await server.restart();
    await watch.until(() => watch.stderr().split('Connected').length > 2);
    await json('tokens', 'add', 'after the restart');
    await watch.until(() => watch.stdout().includes('push-tokens-changed'));
    watch.child.kill('SIGTERM');
    expect(await watch.exited).toMatchObject({ code: 0 });
  });
});

describe('gatehouse delete-account', () => {
  it('deletes the account and the stored session', async () => {
    const { accountId } = await signUp();
    const { token = '' } = await storedFile('session.json');
    expect(await user.run(['delete-account'])).toMatchObject({ code: 2 });
    expect(await user.run(['whoami'])).toMatchObject({ code: 0 });
    expect(await json('delete-account', '--yes')).toMatchObject({ accountId });
    const { status } = await call(server, 'GET', '/v1/account/profile', { token });
    expect(status).toBe(401);
    expect(await user.run(['whoami'])).toMatchObject({ code: 3, stdout: '' });
    expect(await user.run(['login', '--server', server.url])).toMatchObject({ code: 1 });
  });
});

describe('gatehouse logout', () => {
  it('revokes and removes the token, and keeps the device key', async () => {
    const { accountId } = await signUp();
    const { token = '' } = await storedFile('session.json');
    await json('logout');
    const { body } = await call<{ code: string }>(server, 'GET', '/v1/account/profile', { token });
    expect(body.code).toBe('token-revoked');
    const paths = Object.keys(await filesUnder(user.configDirectory));
    expect(paths.filter((path) => path.endsWith('session.json'))).toEqual([]);
    expect(await user.run(['whoami'])).toMatchObject({ code: 3, stdout: '' });
    expect(await logIn()).toMatchObject({ accountId, created: false });
  });

  it('ends the sessions of all machines with --everywhere', async () => {
    await signUp();
    const other = await createCliUser();
    await rm(other.configDirectory, { recursive: true, force: true });
    await cp(user.configDirectory, other.configDirectory, { recursive: true });
    await other.run(['login', '--server', server.url]);
    expect(await json('logout', '--everywhere')).toMatchObject({ everywhere: true });
    const { code, stderr } = await other.run(['whoami', '--json']);
    expect(code).toBe(3);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'token-revoked', status: 401 } });
    const named = await other.run(['whoami', '--server', server.url]);
    expect(named.stderr).toContain(`Run: gatehouse login --server ${server.url}\n`);
    expect(await other.run(['logout'])).toMatchObject({ code: 0 });
  });
});
