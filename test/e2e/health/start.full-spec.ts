import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { createStore, type Store } from '../../fixtures/programs/store-fixture.js';
import { outputOf } from '../../helpers/child-output.js';
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
