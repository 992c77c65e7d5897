import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalServer, closeServer, listen } from '../../helpers/local-server.js';
import { createCliUser, type RunningCli } from '../../fixtures/programs/cli-fixture.js';

/** The command opens addresses only when a person sees the terminal, which is not a pipe. */
const ON_TERMINAL = '--import=data:text/javascript,process.stderr.isTTY=true';

let named: unknown;

let port: number;

const server = await startLocalServer(({ url: { searchParams } }) => {
  port = Number(searchParams.get('loopbackPort') ?? port);
  return { status: 200, json: { url: named, token: 'a-token', accountId: 'account-1' } };
});
const user = await createCliUser();
const openers = join(user.home, 'bin');
const opened = join(user.home, 'opened');
await writeOpeners();
afterAll(() => server.close());

/** Creates programs with the names of desktop openers, which record their arguments. */
async function writeOpeners(): Promise<void> {
  await mkdir(openers);
  for (const name of ['xdg-open', 'open']) {
    const file = join(openers, name);
    await writeFile(file, `#!/bin/sh\nprintf '%s\\n' "$@" >> '${opened}'\n`);
    await chmod(file, 0o755);
  }
}

const started: RunningCli[] = [];
afterEach(() => started.splice(0).forEach(({ child }) => child.kill('SIGKILL')));

function signUp(...flags: string[]): RunningCli {
  const args = ['signup', '--provider', 'okta', '--server', server.url, ...flags];
  const path = [openers, process.env['PATH'] ?? ''].join(delimiter);
  const cli = user.start(args, { PATH: path, NODE_OPTIONS: ON_TERMINAL });
  started.push(cli);
  return cli;
}

const openedLines = (): Promise<string> => readFile(opened, 'utf8').catch(() => '');

describe('an address that a server names for the browser', () => {
  it.each([
    ['file:///etc/passwd', 'unexpected-answer'],
    ['--version', 'unexpected-answer'],
    ['\u001b]8;;file:///etc/passwd\u0007click\u001b]8;;\u0007', 'unexpected-answer'],
    ['http://id.example/', 'unsafe-address'],
    ['https://anna@id.example/', 'unsafe-address'],
  ])('refuses to open %j, with a browser and without', async (address, reason) => {
    named = address;
    const runs = [signUp('--json'), signUp('--json', '--no-browser')];
    for (const { code, stdout, stderr } of await Promise.all(runs.map(({ exited }) => exited))) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: reason, exitCode: 1 } });
      expect(stderr).not.toContain(address);
    }
    expect(await openedLines()).toBe('');
  });

  it.each([null, { href: 'https://id.example/' }])('refuses %j as an address', async (address) => {
    named = address;
    expect((await signUp().exited).code).toBe(1);
    expect(await openedLines()).toBe('');
  });

  it('opens and shows the normalised address when it is https, or http on this machine', async () => {
    const expected: string[] = [];
    for (const [address, href] of [
      ['HTTPS://ID.example/a b?c=$(id)&d=`id`;', 'https://id.example/a%20b?c=$(id)&d=`id`;'],
      ['http:localhost', 'http://localhost/'],
    ] as const) {
      named = address;
      expected.push(href);
      const cli = signUp();
      await cli.until(() => cli.stderr().includes(`\n  ${href}\n`));
      while (!(await openedLines()).includes(`${href}\n`)) {
        await sleep(20);
      }
    }
    expect(await openedLines()).toBe(`${expected.join('\n')}\n`);
  });
});

it('ends a login in the browser whatever else connects to its port', async () => {
  named = 'https://id.example/';
  const cli = user.start(['login', '--provider', 'okta', '--keyless', '--server', server.url]);
  started.push(cli);
  await cli.until(() => cli.stderr().includes('Waiting'));
  const unused = connect(port, '127.0.0.1');
  const odd = connect(port, '127.0.0.1').end('GET // HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(await text(odd)).toMatch(/^HTTP\/1.1 404 /);
  const back = await fetch(`http://127.0.0.1:${port}/oauth/okta?pending=p`);
  expect(await back.text()).toContain('You can close this page.');
  expect(await text(unused)).toBe('');
  expect(await cli.exited).toMatchObject({ code: 0 });
});

const MIB = Buffer.alloc(1_048_576, ' ');
/** The size of the answer: more than a text of V8 can hold. */
const ANSWER_MIB = 700;

/** MiB that the last answer had sent when its connection ended. */
let sent: number;
let status: number;

const endless = createServer((_request, response) => {
  sent = 0;
  response.writeHead(status, { 'content-type': 'application/json' });
  const more = (): void => {
    while (sent < ANSWER_MIB && !response.destroyed) {
      sent += 1;
      if (!response.write(MIB)) {
        response.once('drain', more);
        return;
      }
    }
    response.end('{}');
  };
  more();
});
const url = `http://127.0.0.1:${await listen(endless)}`;
afterAll(() => closeServer(endless));

describe('an answer that does not fit into memory', () => {
  const admin = () => ['audit', '--json', '--admin-url', url];
  const token = { GATEHOUSE_ADMIN_TOKEN: 'a-token' };

  it.each([
    ['of the administration API', admin, token],
    ['through the global fetch, behind a proxy', admin, { ...token, http_proxy: '' }],
    ['of the public API', () => ['signup', '--json', '--server', url], {}],
  ])('ends a command with a clear error: %s', async (_name, args, env) => {
    status = 200;
    const proxied = 'http_proxy' in env ? { ...env, http_proxy: url } : env;
    const { code, stdout, stderr } = await user.run(args(), proxied);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'answer-too-large', message: expect.stringContaining('64 MiB') },
    });
    expect(sent).toBeLessThan(ANSWER_MIB);
  });

  it('ends a command with the exit code of a failing server, where the answer is a 500', async () => {
    status = 500;
    const { code, stderr } = await user.run(admin(), token);
    expect(code).toBe(4);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'answer-too-large' } });
  });
});

it('reports an answer that changes the protocol', async () => {
  const switching = createServer();
  switching.on('connection', (socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'),
  );
  const at = `http://127.0.0.1:${await listen(switching)}`;
  const { code, stderr } = await user.run(['signup', '--json', '--server', at]);
  await closeServer(switching);
  expect(code).toBe(4);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'unreachable' } });
});
