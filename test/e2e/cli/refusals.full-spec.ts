import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { join } from 'node:path';
import { readFullVersion } from '../../../src/common/version.js';
import { writeLoginChallenge } from '../../../src/core/protocol/login-challenge.js';
import { closeServer, KEPT_OPEN, listen } from '../../helpers/local-server.js';
import {
  CLI,
  type CliResult,
  createCliUser,
  UNREAD,
  UNREAD_WHOLLY,
  useCliUser,
} from '../../fixtures/programs/cli-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';

const user = useCliUser();
let answer: RequestListener;

const closed = await startServer({ env: { AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false' } });
const web = createServer(KEPT_OPEN, (request, response) => answer(request, response));
const webUrl = `http://127.0.0.1:${await listen(web)}`;

afterAll(async () => {
  await closeServer(web);
  await closed.stop();
});

const answering = (status: number, body: string, headers: Record<string, string> = {}): void => {
  answer = (_request, response) => void response.writeHead(status, headers).end(body);
};

/** Runs a command that fails, with and without --json, and returns both messages. */
const failure = async (
  args: readonly string[],
): Promise<CliResult & { error: Record<string, unknown> }> => {
  const asJson = await user.run([...args, '--json']);
  const inWords = await user.run(args);
  expect(asJson.code).toBe(inWords.code);
  for (const { stdout, stderr } of [asJson, inWords]) {
    expect(stdout).toBe('');
    expect(stderr).not.toMatch(/^\s+at /m);
  }
  const { error } = JSON.parse(asJson.stderr) as { error: Record<string, unknown> };
  expect(error['exitCode']).toBe(inWords.code);
  return { ...inWords, error };
};

const logInAt = (url: string) => failure(['login', '--server', url]);

const pretendSession = async (url: string): Promise<string> => {
  answering(200, JSON.stringify({ capabilities: { auth: { methods: [] } } }));
  const methods = [{ method: 'key_challenge', action: 'login', mode: 'keyed' }];
  const challenge = Buffer.from(
    writeLoginChallenge({
      origins: [new URL(url).origin],
      nonce: 'A'.repeat(43),
      expiresAt: Date.now() + 60_000,
    }),
  ).toString('base64');
  const bodies: Record<string, object> = {
    '/v1/features': { capabilities: { auth: { methods } } },
    '/v1/auth/challenge': { challenge, expiresAt: 0 },
    '/v1/auth': { success: true, token: 'a.b.c', accountId: 'account-1', created: true },
  };
  answer = ({ url: path = '' }, response) => void response.end(JSON.stringify(bodies[path]));
  expect(await user.run(['signup', '--server', url])).toMatchObject({ code: 0 });
  const [directory = ''] = await readdir(join(user.configDirectory, 'servers'));
  return join(user.configDirectory, 'servers', directory);
};

describe('gatehouse, refused by a server', () => {
  it('exits with 1 where new keys are refused, and stores no session', async () => {
    const { code, stderr, error } = await failure(['signup', '--server', closed.url]);
    expect(code).toBe(1);
    expect(error).toMatchObject({ code: 'signup-disabled', status: 403 });
    expect(error['requestId']).toEqual(expect.any(String));
    expect(stderr).toContain('ask its operator');
    expect((await user.run(['whoami', '--server', closed.url])).code).toBe(3);
  });

  it('sends no key to a server without device-key login', async () => {
    const methods = [{ method: 'okta', action: 'login', mode: 'keyless' }];
    const paths: string[] = [];
    answer = ({ url = '' }, response) => {
      paths.push(url);
      response.end(JSON.stringify({ capabilities: { auth: { methods } } }));
    };
    const { code, stderr, error } = await logInAt(webUrl);
    expect([code, error['code']]).toEqual([1, 'login-not-offered']);
    expect(stderr).toContain('does not offer login with a device key.\n  It offers okta');
    expect(new Set(paths)).toEqual(new Set(['/v1/features']));
  });

  it('reports that the answer is not of a Gatehouse server', async () => {
    answering(200, '<html>Welcome to \u001b[31mnginx</html>');
    expect((await logInAt(webUrl)).error).toMatchObject({ code: 'unexpected-answer', status: 200 });
    answering(404, 'nothing');
    expect((await logInAt(webUrl)).code).toBe(1);
  });

  it.each([{ support: 5 }, { support: null }])(
    'reports the refusal of a server that describes itself as %j',
    async (about) => {
      const methods = [{ method: 'key_challenge', action: 'login', mode: 'keyed' }];
      const capabilities = { auth: { methods }, server: about };
      answer = ({ url = '' }, response) => {
        const isRefused = url !== '/v1/features';
        const refusal = { statusCode: 403, code: 'signup-disabled', message: 'No.' };
        response.statusCode = isRefused ? 403 : 200;
        response.end(JSON.stringify(isRefused ? refusal : { capabilities }));
      };
      const { code, error } = await failure(['signup', '--server', webUrl]);
      expect([code, error['code']]).toEqual([1, 'signup-disabled']);
    },
  );

  it('follows no redirect, and prints its target without escape sequences', async () => {
    answering(301, '', { location: 'https://gate.example.org/\u009b31m' });
    const { code, stderr } = await logInAt(webUrl);
    expect(code).toBe(1);
    expect(stderr).toContain('redirects to https://gate.example.org/\ufffd31m: use the address');
  });

  it('exits with 4 while a server is not ready, and prints when to try again', async () => {
    const body = {
      statusCode: 503,
      code: 'unavailable',
      error: 'unavailable',
      message: 'Not now.',
    };
    answering(503, JSON.stringify(body), { 'retry-after': '7' });
    const { code, stderr, error } = await logInAt(webUrl);
    expect(code).toBe(4);
    expect(error).toMatchObject({ code: 'unavailable', retryAfterSeconds: 7 });
    expect(stderr).toBe('gatehouse: Not now.\n  Try again in 7 seconds.\n');
  });

  it('exits with 4 where a proxy answers for a server that is away, and reads its date', async () => {
    const retryAfter = new Date(Date.now() + 3_600_000).toUTCString();
    answering(502, '<html>Bad Gateway</html>', { 'retry-after': retryAfter });
    const { code, stderr, error } = await logInAt(webUrl);
    expect(code).toBe(4);
    expect(error).toMatchObject({ code: 'unexpected-answer', status: 502 });
    expect(stderr).toMatch(
      /answered 502: the server, or a proxy in front of it, is unavailable for now\.\n {2}Try again in 3\d{3} seconds\.\n$/,
    );
  });
});

describe('gatehouse webhook listen', () => {
  it('names the port that another process uses', async () => {
    const { port } = new URL(webUrl);
    const { code, stderr } = await failure(['webhook', 'listen', '--port', port]);
    expect(code).toBe(1);
    expect(stderr).toContain(`Port ${port} cannot be used (EADDRINUSE).\n  End the process`);
  });
});

describe('gatehouse, without a server', () => {
  it('exits with 4 when the connection is refused', async () => {
    const { code, error } = await logInAt(`http://127.0.0.1:${await freePort()}`);
    expect([code, error['code']]).toEqual([4, 'unreachable']);
    expect(error['message']).toContain('the connection was refused');
  });

  it('exits with 4 from watch and from logout everywhere too, and keeps the session', async () => {
    const directory = await pretendSession(webUrl);
    answer = ({ socket }) => socket.destroy();
    expect((await failure(['watch'])).code).toBe(4);
    expect((await failure(['logout', '--everywhere'])).code).toBe(4);
    expect(await readdir(directory)).toContain('session.json');
  });

  it.each<[string, RequestListener]>([
    ['that cuts the connection', ({ socket }) => void socket.destroy()],
    ['that fails', (_request, response) => void response.writeHead(500).end('{}')],
  ])('removes the session from this computer at a logout from a server %s', async (...row) => {
    const [, listener] = row;
    const directory = await pretendSession(webUrl);
    answer = listener;
    const { code, stdout, stderr } = await user.run(['logout']);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('This computer has forgotten the session');
    expect(await readdir(directory)).not.toContain('session.json');
    expect(await user.run(['whoami'])).toMatchObject({ code: 3 });
  });

  it('removes the session before the server answers a logout', async () => {
    const directory = await pretendSession(webUrl);
    let isCalled = false;
    answer = () => void (isCalled = true);
    const waiting = user.start(['logout']);
    await waiting.until(() => isCalled);
    expect(await readdir(directory)).not.toContain('session.json');
    waiting.child.kill('SIGKILL');
    await waiting.exited;
  });

  it.each([['whoami'], ['logout'], ['watch'], ['tokens', 'list']])(
    'exits with 3 when %s is called before login',
    async (...args) => {
      const { code, stderr } = await failure(args);
      expect(code).toBe(3);
      expect(stderr).toContain('Run: gatehouse login --server ');
      expect(stderr).toContain('For a new account: gatehouse signup --server ');
    },
  );

  it('names the damaged file, and exits with 78', async () => {
    const directory = await pretendSession(webUrl);
    const key = join(directory, 'device-key.json');
    await writeFile(key, '{"kty":"OKP"');
    expect(await logInAt(webUrl)).toMatchObject({ code: 78, error: { code: 'damaged-file' } });
    await writeFile(key, '{"kty":"OKP"}');
    expect((await logInAt(webUrl)).stderr).toContain(`${key} is damaged.`);
  });

  it('names the directory that lies where a file belongs, and exits with 78', async () => {
    const session = join(await pretendSession(webUrl), 'session.json');
    await rm(session);
    await mkdir(session);
    const { code, stderr } = await failure(['whoami', '--server', webUrl]);
    expect(code).toBe(78);
    expect(stderr).toContain(`${session} is a directory, where a file belongs.`);
  });

  it('names the unusable folder, and exits with 78', async () => {
    await mkdir(join(user.home, 'config'));
    await writeFile(user.configDirectory, 'a file where a directory belongs');
    const { code, stderr } = await failure(['signup', '--server', closed.url]);
    expect(code).toBe(78);
    expect(stderr).toContain(user.configDirectory);
  });
});

it('reports that the output was lost', async () => {
  const full = openSync('/dev/full', 'w');
  const { status, stderr } = spawnSync(process.execPath, [CLI, 'config', 'print'], {
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'gatehouse: standard output cannot be written (ENOSPC).\n',
  });
});

it.each([
  ['standard output', UNREAD],
  ['either output', UNREAD_WHOLLY],
])('exits with its own code where %s has no reader', async (_name, through) => {
  const unread = await createCliUser(through);
  const variables = join(unread.home, 'variables.env');
  await writeFile(variables, 'PORT=none\n');
  const check = ['config', 'check', '--file', variables];
  expect(await unread.run(check)).toMatchObject({ code: 78 });
  expect(await unread.run(['webhook', 'verify', '--secret', 's'])).toMatchObject({ code: 1 });
  expect(await unread.run(['config', 'print'])).toMatchObject({ code: 0 });
});

it.each([' ', 'proxy.example:3128', 'gate'])(
  'names the proxy variable that is %j',
  async (value) => {
    const env = { HTTPS_PROXY: value, http_proxy: 'http://127.0.0.1:9' };
    const sent = await user.run(['whoami', '--json'], env);
    expect(sent.code).toBe(78);
    const { error } = JSON.parse(sent.stderr) as { error: { problems: readonly unknown[] } };
    const problem = {
      variable: 'HTTPS_PROXY',
      message: expect.stringContaining('http://') as string,
    };
    expect(error.problems).toEqual([problem]);

    const checked = await user.run(['config', 'check', '--json'], { ...env, PORT: 'x' });
    expect(checked.code).toBe(78);
    const { problems } = JSON.parse(checked.stdout) as { problems: { variable: string }[] };
    expect(problems.map(({ variable }) => variable)).toEqual(['PORT', 'HTTPS_PROXY']);
  },
);

describe('gatehouse, with wrong arguments', () => {
  it.each([
    ['frobnicate'],
    ['whoami', '--loudly'],
    ['tokens', 'add'],
    ['whoami', 'too', 'much'],
    ['login'],
    ['login', '--server', 'gate.example.org'],
    ['login', '--server', 'ftp://gate.example.org'],
    ['login', '--server', 'https://user:password@gate.example.org'],
    ['config', 'check', '--file', '/nowhere'],
    ['deliveries', 'list', '--limit', 'all'],
    ['deliveries', 'list', '--limit', '0'],
    ['deliveries', 'list', '--state', 'lost'],
    ['webhook', 'listen', '--port', '70000'],
    ['webhook', 'listen', '--status', '99'],
    ['webhook', 'listen', '--secret-file', '/nowhere'],
    ['webhook', 'verify', '--secret', 's', '--file', '/nowhere'],
    ['webhook', 'verify', '--secret', 's', '--file', '/etc'],
    ['webhook', 'verify', '--secret', 's', '--file', '/etc/hostname', '--tolerance-seconds', '-1'],
    ['account', 'list', '--limit', '1e3'],
    ['login', '--server', 'http://127.0.0.1:1', '--keyless'],
    ['login', '--server', 'http://127.0.0.1:1', '--ca', '/nowhere'],
    ['webhook', 'listen', '--secret', ''],
    ['webhook', 'listen', '--secret', 's', '--secret-file', '/etc/hostname'],
    ['channels', 'add', 'http://127.0.0.1:1', '--secret', 's', '--new-secret'],
    ['login', '--code', '--keyless'],
    ['login', '--code', '--certificate', 'x'],
    ['login', '--code', '--key', 'x'],
  ])('exits with 2 on %s %s %s', async (...args) => {
    const { code, error } = await failure(args);
    expect([code, error['code']]).toEqual([2, 'usage']);
  });

  it.each([
    ['gatehouse', ['frobnicate']],
    ['gatehouse tokens', ['tokens', 'lst']],
    ['gatehouse tokens add', ['tokens', 'add']],
    ['gatehouse whoami', ['whoami', '--loudly']],
    ['gatehouse deliveries list', ['deliveries', 'list', '--state', 'lost']],
    ['gatehouse account disable', ['account', 'disable', 'id', '--reason', ' ']],
  ])('refers to the help of %s', async (name, args) => {
    const { error } = await failure(args);
    expect(error).toMatchObject({ code: 'usage', hint: `Run: ${name} --help` });
  });

  it.each([[], ['key'], ['config']])('shows the help and exits with 2 on "%s"', async (...args) => {
    const { code, stderr } = await user.run(args);
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: gatehouse');
  });

  it.each(['tokens', 'channels', 'deliveries', 'devices', 'programs', 'requests'])(
    'lists by %s without a subcommand, and names one that does not exist',
    async (group) => {
      const { code, stdout, stderr } = await user.run([group]);
      const named = await user.run([group, 'list']);
      expect({ code, stdout, stderr }).toEqual(named);
      const { error } = await failure([group, 'lst']);
      expect(error['message']).toBe("unknown command 'lst'");
      const surplus = await failure([group, 'list', 'lst']);
      expect(surplus.error['message']).toContain("too many arguments for 'list'");
    },
  );

  it('lists every exit code and its commands in groups', async () => {
    const { code, stdout } = await user.run(['--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/0 {3}done[^]*1 [^]*2 [^]*3 [^]*4 [^]*78 /);
    const groups = {
      Yourself: ['signup', 'login', 'logout', 'whoami'],
      Notifications: ['notify', 'channels', 'tokens', 'preferences'],
      Clients: ['watch', 'webhook'],
      Operators: ['serve', 'config', 'migrate', 'account', 'invite', 'audit'],
      Others: ['completion', 'help'],
    };
    for (const [heading, names] of Object.entries(groups)) {
      const [, group = ''] = stdout.split(`\n${heading}:\n`);
      const listed = [...(group.split('\n\n')[0] ?? '').matchAll(/^ {2}([a-z-]+)/gm)];
      expect(listed.map(([, name]) => name)).toEqual(expect.arrayContaining(names));
    }
    expect((await user.run(['serve', '--help'])).stdout).toContain('docs/configuration.md');
    expect(readFullVersion()).toMatch(/^\d+\.\d+\.\d+(\+[0-9a-f]{12})?$/);
    expect((await user.run(['--version'])).stdout).toBe(`${readFullVersion()}\n`);
  });
});
