import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitFor } from './wait.js';

export const CLI = fileURLToPath(new URL('../../dist/bin/gatehouse.js', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that goes on until it is ended. */
export interface RunningCli {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when `isDone` is true, rejects when the command ends before or it takes too long. */
  until(isDone: () => boolean): Promise<void>;
  readonly exited: Promise<CliResult>;
}

/** One user's machine: a home directory of its own, and no other variables than PATH. */
export interface CliUser {
  readonly home: string;
  /** $XDG_CONFIG_HOME/gatehouse */
  readonly configDirectory: string;
  /** @param input what stands on standard input */
  run(
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
    input?: string,
  ): Promise<CliResult>;
  start(args: readonly string[], env?: Readonly<Record<string, string>>): RunningCli;
  remove(): Promise<void>;
}

/** @param through a program and its arguments that start the command, for example in a network namespace */
export async function createCliUser(through: readonly string[] = []): Promise<CliUser> {
  const home = await mkdtemp(join(tmpdir(), 'gatehouse-home-'));
  const config = join(home, 'config');
  const own = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_CONFIG_HOME: config };
  const start: CliUser['start'] = (args, env = {}) =>
    startCli([...through, process.execPath, CLI, ...args], { ...own, ...env });
  return {
    home,
    configDirectory: join(config, 'gatehouse'),
    start,
    run: (args, env, input = '') => {
      const { child, exited } = start(args, env);
      // Not every command reads it.
      child.stdin?.on('error', () => undefined).end(input);
      return exited;
    },
    remove: () => removeHome(home),
  };
}

async function removeHome(home: string): Promise<void> {
  await waitFor(`nothing writes to ${home}`, async () => {
    try {
      await rm(home, { recursive: true, force: true });
      return true;
    } catch (error) {
      // A process in the background may write for as long as it takes to end.
      if ((error as NodeJS.ErrnoException).code === 'ENOTEMPTY') {
        return false;
      }
      throw error;
    }
  });
}

function startCli(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): RunningCli {
  const child = spawn(program, args, { env, stdio: 'pipe' });
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].on('data', (chunk: Buffer) => (text[name] += chunk.toString()));
  }
  const killOnExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const exited = once(child, 'close').then(([code]: unknown[]): CliResult => {
    process.removeListener('exit', killOnExit);
    return { code: code as number | null, ...text };
  });
  const until = async (isDone: () => boolean): Promise<void> => {
    const said = (): string => `${text.stdout}${text.stderr}`;
    await waitFor(said, () => {
      const { exitCode } = child;
      if (isDone()) {
        return true;
      }
      if (exitCode !== null) {
        throw new Error(`It ended before that: ${said()}`);
      }
      return false;
    });
  };
  return { child, stdout: () => text.stdout, stderr: () => text.stderr, until, exited };
}
