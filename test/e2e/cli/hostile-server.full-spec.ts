import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startLocalServer } from '../../helpers/local-server.js';
import { createCliUser, type RunningCli } from '../../fixtures/programs/cli-fixture.js';

/** The command opens addresses only when a person sees the terminal, which is not a pipe. */
const ON_TERMINAL = '--import=data:text/javascript,process.stderr.isTTY=true';

let named: unknown;

const server = await startLocalServer(() => ({ status: 200, json: { url: named } }));
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
    'file:///etc/passwd',
    'FILE:///etc/passwd',
    'vscode://file/etc/passwd',
    'vscode:extension/evil.extension',
    '--version',
    '-x',
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,hello',
    'ms-msdt:/id PCWDiagnostic',
    'http://id.example/authorize',
    'http://127.0.0.1.evil.example/',
    'http://localhost.evil.example/',
    'http://0.0.0.0/',
    'https://id.example@evil.example/',
    'https://',
    'https:// evil',
    '//evil.example/',
    '/etc/passwd',
    'xdg-open',
    '',
    '\u001b]8;;file:///etc/passwd\u0007click\u001b]8;;\u0007',
  ])('refuses to open %j, with a browser and without', async (address) => {
    named = address;
    const runs = [signUp('--json'), signUp('--json', '--no-browser')];
    for (const { code, stdout, stderr } of await Promise.all(runs.map(({ exited }) => exited))) {
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(JSON.parse(stderr)).toMatchObject({
        error: { code: 'unsafe-address', exitCode: 1, message: expect.stringMatching('https') },
      });
    }
    expect(await openedLines()).toBe('');
  });

  it.each([null, 7, ['https://id.example/'], { href: 'https://id.example/' }])(
    'refuses %j as an address',
    async (address) => {
      named = address;
      expect((await signUp().exited).code).toBe(1);
      expect(await openedLines()).toBe('');
    },
  );

  it('opens and shows the normalised address when it is https, or http on this machine', async () => {
    const expected: string[] = [];
    for (const [address, href] of [
      ['HTTPS://ID.example/a b?c=$(id)&d=`id`;', 'https://id.example/a%20b?c=$(id)&d=`id`;'],
      ['\thttps://id.example/--version\n', 'https://id.example/--version'],
      ['http://127.0.0.1:4000/authorize', 'http://127.0.0.1:4000/authorize'],
      ['http://[::1]:4000/', 'http://[::1]:4000/'],
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
