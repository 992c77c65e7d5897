import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeLoginChallenge } from '../../src/policy/admission/login-challenge.js';
import { KEPT_OPEN } from '../fakes/local-server.js';
import { CLI, type CliResult, type CliUser, createCliUser } from '../helpers/cli.js';
import { type Server, startServer } from '../helpers/server.js';
import { freePort } from '../helpers/service-process.js';

let closed: Server;
let user: CliUser;
let web: HttpServer;
let webUrl: string;
let answer: RequestListener;

beforeAll(async () => {
  closed = await startServer({ env: { AUTH_ANONYMOUS_SIGNUP_ENABLED: 'false' } });
  web = createServer(KEPT_OPEN, (request, response) => answer(request, response));
  web.listen(0, '127.0.0.1');
  await once(web, 'listening');
  webUrl = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});

afterAll(async () => {
  web.closeAllConnections();
  web.close();
  await closed.stop();
});

beforeEach(async () => {
  user = await createCliUser();
});

afterEach(() => user.remove());

const answering = (status: number, body: string, headers: Record<string, string> = {}): void => {
  answer = (_request, response) => void response.writeHead(status, headers).end(body);
};

/** Runs a command that fails, in words and with --json, and gives both ways of saying so. */
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

/** As if an earlier login had been successful. */
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
  it('ends with 1 where new keys are refused, and has no session', async () => {
    const { code, stderr, error } = await failure(['signup', '--server', closed.url]);
    expect(code).toBe(1);
    expect(error).toMatchObject({ code: 'signup-disabled', status: 403 });
    expect(error['requestId']).toEqual(expect.any(String));
    expect(stderr).toContain('ask its operator');
    expect((await user.run(['whoami', '--server', closed.url])).code).toBe(3);
  });

  it('does not send a key where the server offers no login with one', async () => {
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

  it('says so when something else than a Gatehouse server answers', async () => {
    answering(200, '<html>Welcome to \u001b[31mnginx</html>');
    expect((await logInAt(webUrl)).error).toMatchObject({ code: 'unexpected-answer', status: 200 });
    answering(404, 'nothing');
    expect((await logInAt(webUrl)).code).toBe(1);
  });

  it('follows no redirect, but names its target without its escapes', async () => {
    answering(301, '', { location: 'https://gate.example.org/\u009b31m' });
    const { code, stderr } = await logInAt(webUrl);
    expect(code).toBe(1);
    expect(stderr).toContain('redirects to https://gate.example.org/\ufffd31m: use the address');
  });

  it('ends with 4 while a server is not ready, and says when to try again', async () => {
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
});

describe('gatehouse, without a server', () => {
  it('exits with 4 when the connection is refused', async () => {
    const { code, error } = await logInAt(`http://127.0.0.1:${await freePort()}`);
    expect([code, error['code']]).toEqual([4, 'unreachable']);
    expect(error['message']).toContain('the connection was refused');
  });

  it('ends with 4 from watch and logout too, and keeps the session', async () => {
    const directory = await pretendSession(webUrl);
    answer = ({ socket }) => socket.destroy();
    expect((await failure(['watch'])).code).toBe(4);
    expect((await failure(['logout'])).code).toBe(4);
    expect(await readdir(directory)).toContain('session.json');
  });

  it.each([['whoami'], ['logout'], ['watch'], ['tokens', 'list']])(
    'ends with 3 when %s is called before login',
    async (...args) => {
      const { code, stderr } = await failure(args);
      expect(code).toBe(3);
      expect(stderr).toContain('Run: gatehouse login --server ');
    },
  );

  it('reports which file is damaged, with 78', async () => {
    const directory = await pretendSession(webUrl);
    const key = join(directory, 'device-key.json');
    await writeFile(key, '{"kty":"OKP"');
    expect(await logInAt(webUrl)).toMatchObject({ code: 78, error: { code: 'damaged-file' } });
    await writeFile(key, '{"kty":"OKP"}');
    expect((await logInAt(webUrl)).stderr).toContain(`${key} is damaged.`);
  });

  it('reports which folder cannot be used, with 78', async () => {
    await mkdir(join(user.home, 'config'));
    await writeFile(user.configDirectory, 'a file where a directory belongs');
    const { code, stderr } = await failure(['signup', '--server', closed.url]);
    expect(code).toBe(78);
    expect(stderr).toContain(user.configDirectory);
  });
});

it('gatehouse says that its output was lost', async () => {
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

describe('gatehouse, used wrongly', () => {
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
  ])('ends with 2 on %s %s %s', async (...args) => {
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
  ])('names the help of %s', async (name, args) => {
    const { error } = await failure(args);
    expect(error).toMatchObject({ code: 'usage', hint: `Run: ${name} --help` });
  });

  it.each([[], ['tokens'], ['config']])(
    'shows the help and ends with 2 on "%s"',
    async (...args) => {
      const { code, stderr } = await user.run(args);
      expect(code).toBe(2);
      expect(stderr).toContain('Usage: gatehouse');
    },
  );

  it('has a help that names every exit code and every command', async () => {
    const { code, stdout } = await user.run(['--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/0 {3}done[^]*1 [^]*2 [^]*3 [^]*4 [^]*78 /);
    for (const name of [
      'serve',
      'migrate',
      'config',
      'signup',
      'login',
      'logout',
      'whoami',
      'watch',
      'tokens',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'));
    }
    expect((await user.run(['serve', '--help'])).stdout).toContain('docs/configuration.md');
    expect((await user.run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
