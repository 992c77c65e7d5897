import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasRegistry, installPacked, run, type Installed } from '../helpers/packed.js';
import { waitFor } from '../helpers/wait.js';

/** What may be linked into a program under another licence, as long as the text comes with it. */
const PERMISSIVE =
  /^(MIT|ISC|0BSD|BSD-[23]-Clause|Apache-2\.0|BlueOak-1\.0\.0|Unlicense|CC0-1\.0)$/;
/** Its package.json is older than the field for the licence; its page says MIT. */
const STATED_ELSEWHERE = ['pause'];

(hasRegistry() ? describe : describe.skip)('The package gatehouse', () => {
  let installed: Installed;
  let server: ChildProcess;
  let output = '';
  let url: string;

  const environment = () => ({
    PATH: process.env['PATH'],
    HOME: installed.folder,
    SERVICE_PRESET: 'default',
  });
  const gatehouse = (...args: string[]) =>
    run(join(installed.folder, 'node_modules/.bin/gatehouse'), args, {
      cwd: installed.folder,
      env: environment(),
    });
  const read = (path: string): Promise<string> =>
    readFile(join(installed.folder, 'node_modules/gatehouse', path), 'utf8');

  beforeAll(async () => {
    installed = await installPacked(['gatehouse']);
    server = spawn(join(installed.folder, 'node_modules/.bin/gatehouse'), ['serve'], {
      cwd: installed.folder,
      env: { ...environment(), PORT: '0', HOST: '127.0.0.1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [server.stdout, server.stderr]) {
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    }
    url = await waitFor(
      () => `the server is ready: ${output}`,
      () => {
        if (server.exitCode !== null) {
          throw new Error(`It ended: ${output}`);
        }
        const [, address] = /Listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(output) ?? [];
        return output.includes('The database is ready.') && address;
      },
    );
  });

  afterAll(async () => {
    server.kill('SIGKILL');
    await once(server, 'close');
    await installed.remove();
  });

  it('holds what it runs, in less than 10 MB', () => {
    const [packed] = installed.packages;
    expect(packed?.unpackedSize).toBeLessThan(10_000_000);
    const others = packed?.files.filter((name) => !/^(dist\/(bin|web)|config)\//.test(name));
    expect(others?.sort()).toEqual(['LICENSE', 'README.md', 'package.json']);
    expect(packed?.files.filter((name) => /\.(ts|map)$/.test(name))).toEqual([]);
  });

  it('has the licence of everything that is linked in, none of which asks for more', async () => {
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

  it('depends on the packages that are not linked, alone', async () => {
    const { dependencies } = JSON.parse(await read('package.json')) as { dependencies: object };
    expect(Object.keys(dependencies)).toEqual([
      '@electric-sql/pglite',
      'ioredis',
      'reflect-metadata',
      'swagger-ui-dist',
    ]);
    await expect(readFile(join(installed.folder, 'node_modules/typeorm'))).rejects.toThrow(
      'ENOENT',
    );
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

  it('signs up and logs in with its command', async () => {
    expect((await gatehouse('signup', '--server', url)).stdout).toContain('logged in');
    expect((await gatehouse('whoami')).stdout).toContain(url);
    await gatehouse('tokens', 'add', 'my-push-token');
    expect((await gatehouse('tokens', 'list')).stdout).toContain('my-push-token');
    const { version } = JSON.parse(await read('package.json')) as { version: string };
    expect((await gatehouse('--version')).stdout).toBe(`${version}\n`);
  });
});
