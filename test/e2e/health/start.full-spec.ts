import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, writeFile } from 'node:fs/promises';
import module from 'node:module';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { namespaceOfRun } from '../../fixtures/programs/network-namespace-fixture.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { createStore, type Store } from '../../fixtures/programs/store-fixture.js';
import { outputOf } from '../../helpers/child-output.js';
import { endWithProcess } from '../../helpers/end-with-process.js';
import { waitFor } from '../../helpers/wait.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

interface Started {
  readonly output: () => string;
  readonly url: () => string | undefined;
  stop(): Promise<void>;
}

/** Runs `npm start` in this checkout, on a separate database. */
async function npmStart(): Promise<Started> {
  const store: Store = await createStore();
  // The process has a separate group, because npm starts the server as a child of a shell.
  const child: ChildProcess = spawn('npm', ['start'], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...store.env, PORT: '0', HOST: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output = outputOf(child);
  const kill = (): void => void process.kill(-(child.pid ?? 0), 'SIGKILL');
  process.once('exit', kill);
  return {
    output,
    url: () => /Listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(output())?.[1],
    stop: async () => {
      process.removeListener('exit', kill);
      const closed = once(child, 'close');
      kill();
      await closed;
      await store.drop();
    },
  };
}

describe('a program that was built', () => {
  const versionOf = (env: NodeJS.ProcessEnv) =>
    promisify(execFile)(process.execPath, ['dist/bin/gatehouse.js', '--version'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], ...env },
    });

  it('uses the code that V8 compiled at an earlier start, where Node keeps it', async () => {
    await versionOf({});
    const { stderr } = await versionOf({ NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
    const isAccepted = /\/dist\/bin\/gatehouse-\S+\.cjs was accepted/.test(stderr);
    expect(isAccepted).toBe('enableCompileCache' in module);
  });
});

describe('a server whose log is on a full disk', () => {
  it('serves, and ends at a signal', async () => {
    const store = await createStore();
    const [port, full] = [await freePort(), await open('/dev/full', 'w')];
    const env = { PATH: process.env['PATH'], ...store.env, PORT: String(port), HOST: '127.0.0.1' };
    const server = spawn(process.execPath, ['dist/bin/server.js'], {
      ...{ cwd: ROOT, env },
      stdio: ['ignore', full.fd, 'pipe'],
    });
    endWithProcess(server);
    const ended = once(server, 'exit');
    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(1000) }).then(
        ({ ok }) => ok,
        () => false,
      );
    try {
      await waitFor('the server is ready', isReady);
      server.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    } finally {
      server.kill('SIGKILL');
      await Promise.all([full.close(), store.drop()]);
    }
  });
});

describe('npm start', () => {
  it('serves twice from one checkout, and at most one of the two builds', async () => {
    const started = await Promise.all([npmStart(), npmStart()]);
    try {
      for (const { output, url } of started) {
        await waitFor(output, () => url() !== undefined);
        expect((await fetch(`${url()}/v1/features`)).status).toBe(200);
      }
      const builds = started.filter(({ output }) => output().includes('Building'));
      expect(builds.length).toBeLessThan(2);
    } finally {
      await Promise.all(started.map(({ stop }) => stop()));
    }
  });
});

describe('a server that cannot listen', () => {
  it.each([
    ['HOST 192.0.2.1 is not an address of this machine', { HOST: '192.0.2.1' }],
    ['METRICS_HOST 192.0.2.1 is not an address', { METRICS_PORT: '0', METRICS_HOST: '192.0.2.1' }],
    ['PORT {port} on 127.0.0.1 is in use by another process', { PORT: '{port}' }],
    [
      'ADMIN_PORT {port} on 127.0.0.1 is in use',
      { ADMIN_PORT: '{port}', ADMIN_TOKENS_FILE: '{tokens}' },
    ],
  ])('exits with 1 and: %s', async (message, variables: Record<string, string>) => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const tokens = join(tmpdir(), 'no-tokens.json');
    await writeFile(tokens, '[]');
    const withValues = (text: string): string =>
      text.replace('{port}', String(port)).replace('{tokens}', tokens);
    const store = await createStore();
    const env = {
      ...{ PATH: process.env['PATH'], ...store.env, HOST: '127.0.0.1', PORT: '0' },
      ...Object.fromEntries(
        Object.entries(variables).map(([name, text]) => [name, withValues(text)]),
      ),
    };
    const start = promisify(execFile)(process.execPath, ['dist/bin/server.js'], { cwd: ROOT, env });
    const result: unknown = await start.catch((error: unknown) => error);
    taken.close();
    await store.drop();
    expect(result).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(withValues(message)) as string,
    });
  });
});

describe('a server that starts as the first process of a container', () => {
  const test = namespaceOfRun().isMade ? it : it.skip;
  test('ends at a SIGTERM that arrives while it loads', async () => {
    const script = `import { Module } from 'node:module';
      import { writeSync } from 'node:fs';
      const { _load } = Module;
      Module._load = function (name, ...rest) {
        if (/server-.{8}\\.cjs$/.test(name)) {
          writeSync(1, 'loading');
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
        }
        return _load.call(this, name, ...rest);
      };`;
    const store = await createStore();
    const env = {
      ...{ PATH: process.env['PATH'], ...store.env, HOST: '127.0.0.1', PORT: '0' },
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
    };
    const args = ['--pid', '--fork', '--kill-child', process.execPath, 'dist/bin/gatehouse.js'];
    const child = spawn('unshare', [...args, 'serve'], { cwd: ROOT, env });
    const closed = once(child, 'close');
    const output = outputOf(child);
    try {
      await waitFor(output, () => output().includes('loading'));
      const task = `/proc/${child.pid}/task/${child.pid}/children`;
      process.kill(Number(await readFile(task, 'utf8')), 'SIGTERM');
      await waitFor(output, () => child.exitCode !== null);
    } finally {
      child.kill('SIGKILL');
      await closed;
      await store.drop();
    }
    expect(output()).not.toContain('The database is ready.');
  });
});

describe('a warning of Node or of a library', () => {
  it('is a line of the log, as JSON', async () => {
    const script = `import { isMainThread } from 'node:worker_threads';
      setTimeout(() => isMainThread && process.emitWarning('of a library'), 2000)`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(script)}`;
    const server = await startServer({ env: { NODE_OPTIONS } });
    await server.logged(/"level":"warn".*"Warning: of a library"/);
    for (const line of server.logs().trim().split('\n')) {
      expect(() => void JSON.parse(line)).not.toThrow();
    }
    await server.stop();
  });
});
