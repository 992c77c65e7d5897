import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFullVersion } from '../../../src/common/version.js';
import { WebhookReceiver } from '../../fakes/webhook-receiver.js';
import {
  hasRegistry,
  installPacked,
  run,
  type Installed,
} from '../../fixtures/programs/packages-fixture.js';
import { outputOf } from '../../helpers/child-output.js';
import { waitFor } from '../../helpers/wait.js';

/** Licences that permit linking into a program of another licence with a copy of their text. */
const PERMISSIVE =
  /^(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|Unlicense|CC0-1\.0)$/;
/** The package.json of this package is older than the licence field, and its web page names MIT. */
const STATED_ELSEWHERE = ['pause'];

(hasRegistry() ? describe : describe.skip)('The package @gatehouse/server', () => {
  let installed: Installed;
  let server: ChildProcess;
  let url: string;

  const environment = () => ({
    PATH: process.env['PATH'],
    HOME: installed.folder,
    SERVICE_PRESET: 'default',
    GATEHOUSE_PRIVATE_HOSTS: '127.0.0.1',
    GITHUB_CLIENT_ID: 'client',
    GITHUB_CLIENT_SECRET: 'secret',
  });
  const gatehouse = (...args: string[]) =>
    run(join(installed.folder, 'node_modules/.bin/gatehouse'), args, {
      cwd: installed.folder,
      env: environment(),
    });
  const read = (path: string): Promise<string> =>
    readFile(join(installed.folder, 'node_modules/@gatehouse/server', path), 'utf8');

  beforeAll(async () => {
    installed = await installPacked(['server']);
    server = spawn(join(installed.folder, 'node_modules/.bin/gatehouse'), ['serve'], {
      cwd: installed.folder,
      env: { ...environment(), PORT: '0', HOST: '127.0.0.1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = outputOf(server);
    url = await waitFor(
      () => `the server is ready: ${output()}`,
      () => {
        if (server.exitCode !== null) {
          throw new Error(`It ended: ${output()}`);
        }
        const [, address] = /Listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(output()) ?? [];
        return output().includes('The database is ready.') && address;
      },
    );
  });

  afterAll(async () => {
    server.kill('SIGKILL');
    await once(server, 'close');
    await installed.remove();
  });

  it('contains everything that it runs, in less than 16 MB', () => {
    const [packed] = installed.packages;
    expect(packed?.unpackedSize).toBeLessThan(16_000_000);
    const others = packed?.files.filter((name) => !/^(dist\/(bin|web)|config)\//.test(name));
    expect(others?.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(packed?.files.filter((name) => /\.(ts|map)$/.test(name))).toEqual([]);
  });

  it('contains the licence of everything that is linked in, each of them permissive', async () => {
    const page = `${await read('dist/bin/THIRD-PARTY.txt')}${await read('dist/web/THIRD-PARTY.txt')}`;
    const packages = [...page.matchAll(/^-{79}\n(\S+) \S+ \((.*)\)\n\n([^]*?)(?=\n-{79}\n|$)/gm)];
    const names = packages.map(([, name]) => name);
    expect(names).toEqual(expect.arrayContaining(['@nestjs/core', 'fastify', 'pg', 'preact']));
    for (const [, name = '', licence = '', text = ''] of packages) {
      const kinds = licence.replace(/[()]/g, '').split(/ (?:OR|AND) /);
      const isKnown =
        STATED_ELSEWHERE.includes(name) || kinds.every((kind) => PERMISSIVE.test(kind));
      expect([name, licence, isKnown]).toEqual([name, licence, true]);
      expect(text.trim()).not.toBe('');
    }
  });

  it('depends only on the packages that are not linked', async () => {
    const { dependencies } = JSON.parse(await read('package.json')) as { dependencies: object };
    expect(Object.keys(dependencies)).toEqual([
      '@electric-sql/pglite',
      'ioredis',
      'passport-openidconnect',
      'reflect-metadata',
      'xmlhttprequest-ssl',
    ]);
    const others = await readdir(join(installed.folder, 'node_modules'));
    expect(others).not.toContain('typeorm');
    // It reports each installation to a third party.
    expect(others).not.toContain('@scarf');
  });

  it('serves on the embedded database, with its pages', async () => {
    expect(await (await fetch(`${url}/v1/features`)).json()).toHaveProperty('capabilities');
    for (const page of ['/app/', '/docs']) {
      const answer = await fetch(`${url}${page}`);
      expect([page, answer.status]).toEqual([page, 200]);
      const [, script = ''] = /<script[^>]*src="([^"]+)"/.exec(await answer.text()) ?? [];
      const base = page === '/docs' ? `${url}/docs` : `${url}/app/`;
      expect((await fetch(new URL(script, base))).status).toBe(200);
    }
  });

  it('checks the fields of a request', async () => {
    const answer = await fetch(`${url}/v1/auth/external/github/pending`, { method: 'POST' });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      expect.objectContaining({
        details: [
          { path: 'pending', message: 'pending must be a string' },
          { path: 'proof', message: 'proof must be a string' },
        ],
      }),
    ]);
  });

  it('signs up and logs in with its command', async () => {
    expect((await gatehouse('signup', '--server', url)).stdout).toContain('signed in');
    expect((await gatehouse('whoami')).stdout).toContain(url);
    await gatehouse('tokens', 'add', 'my-push-token');
    expect((await gatehouse('tokens', 'list')).stdout).toContain('my-push-token');
    expect((await gatehouse('--version')).stdout).toBe(`${readFullVersion()}\n`);
  });

  it('sends generic notifications unless the variable switches request previews on', async () => {
    const receiver = await WebhookReceiver.start();
    const notify = async (variables: object): Promise<unknown> => {
      const request = ['--request', 'r1', '--tool', 'Bash', '--command', 'ls /x'];
      await run(
        join(installed.folder, 'node_modules/.bin/gatehouse'),
        ['notify', 'permission-request', '--session', 's1', ...request],
        { cwd: installed.folder, env: { ...environment(), ...variables } },
      );
      return receiver.json;
    };
    await gatehouse('channels', 'add', receiver.url, '--id', 'hook');
    await gatehouse('tokens', 'remove', 'my-push-token');
    expect(await notify({ NODE_ENV: 'development' })).toMatchObject({
      content: { body: 'Something needs your permission to go on.' },
      request: { requestId: 'r1', toolDetails: null },
    });
    expect(await notify({ CLIENT_PUBLIC_REQUEST_PREVIEWS: '1' })).toMatchObject({
      content: { body: 'Bash needs your permission: ls /x' },
      request: { requestId: 'r1', toolDetails: 'Command: ls /x' },
    });
    await receiver.close();
  });
});
