import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A real server that belongs to one test run. */
export interface Service {
  readonly url: string;
  /** Process id of the running server; it changes with {@link Service.restart}. */
  readonly pid: number;
  /**
   * SIGKILL, SIGSTOP and SIGCONT go to every process of the server, others to the first one.
   * SIGKILL resolves when it is gone, the others when they are sent.
   */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Ends the server if it runs (SIGKILL) and starts it again on the same data and port. */
  restart(): Promise<void>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

export interface ServiceCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly url: string;
  /** Directory of its files. */
  readonly home: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Signal that ends it cleanly. */
  readonly stopSignal: NodeJS.Signals;
  /** Resolves when the server answers; called again and again until it does. */
  probe(): Promise<void>;
}

const START_LIMIT_MS = 120_000;

/** Starts `command` and resolves when its probe succeeds. The server never outlives this process. */
export async function startService(command: ServiceCommand): Promise<Service> {
  let running = await launch(command);
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const { child, watchdog } = running;
    watchdog.kill('SIGKILL');
    if (hasEnded(child)) {
      return;
    }
    const exit = once(child, 'exit');
    const children = childrenOf(child.pid ?? 0);
    signalFamily(child, 'SIGCONT');
    if (signal === 'SIGKILL') {
      signalFamily(child, signal);
    } else {
      child.kill(signal);
    }
    await exit;
    // PostgreSQL does not start while one of them has its memory.
    while (!children.every(isGone)) {
      await sleep(10);
    }
  };
  return {
    url: command.url,
    get pid() {
      return running.child.pid ?? 0;
    },
    kill: async (signal) => {
      if (signal === 'SIGKILL') {
        await end(signal);
      } else if (signal === 'SIGSTOP' || signal === 'SIGCONT') {
        signalFamily(running.child, signal);
      } else {
        running.child.kill(signal);
      }
    },
    restart: async () => {
      await end('SIGKILL');
      running = await launch(command);
    },
    stop: async () => {
      await end(command.stopSignal);
      rmSync(command.home, { recursive: true, force: true });
    },
  };
}

interface Running {
  readonly child: ChildProcess;
  readonly watchdog: ChildProcess;
}

async function launch(command: ServiceCommand): Promise<Running> {
  const { file, args, uid, gid } = command;
  const child = spawn(file, [...args], { uid, gid, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4000)));
  }
  child.once('error', (error) => (output += error.message));
  const watchdog = watch(child, command.home);
  const deadline = Date.now() + START_LIMIT_MS;
  for (;;) {
    try {
      await command.probe();
      return { child, watchdog };
    } catch (problem) {
      if (hasEnded(child) || child.pid === undefined || Date.now() > deadline) {
        child.kill('SIGKILL');
        throw new Error(`${file} did not start: ${output}`, { cause: problem });
      }
    }
    await sleep(30);
  }
}

/**
 * A shell whose standard input ends with this process, however it dies: then it ends the server
 * and removes its files. In a session of its own, so that Ctrl-C does not end it first.
 */
function watch(child: ChildProcess, home: string): ChildProcess {
  const script = 'read _; kill -KILL "$0"; sleep 0.2; rm -rf "$1"';
  const watchdog = spawn('/bin/sh', ['-c', script, `${child.pid}`, home], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  return watchdog;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

/** Signals the server and its children: PostgreSQL answers from one process per connection. */
function signalFamily(child: ChildProcess, signal: NodeJS.Signals): void {
  const children = child.pid === undefined ? [] : childrenOf(child.pid);
  child.kill(signal);
  for (const pid of children) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended since it was listed.
    }
  }
}

export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === parent)
    .map(Number);
}

function parentOf(pid: string): number | null {
  return Number(statOf(pid)?.[1]) || null;
}

/** Nothing of it is left but its exit code, which its parent may not have read yet. */
function isGone(pid: number): boolean {
  const [state] = statOf(String(pid)) ?? [];
  return state === undefined || state === 'Z';
}

/** From the state on (proc(5)); null when there is no such process. */
function statOf(pid: string): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null; // it ended between the listing and the reading
  }
}

/**
 * Of these the system gives none to a program that listens on any port, or connects: it takes those from
 * 32768 on (Linux) or from 49152 on. Each of Jest's workers has a part, so that no two take the same.
 */
const PORTS_OF_ALL = { from: 20_000, to: 32_768 };
const PARTS = 8;
const worker = Number(process.env['JEST_WORKER_ID'] ?? 1) - 1;
const PART =
  (worker + (process.env['GATEHOUSE_TEST_DATABASE'] === 'postgres' ? 0 : PARTS / 2)) % PARTS;
const PART_SIZE = Math.floor((PORTS_OF_ALL.to - PORTS_OF_ALL.from) / PARTS);
const OWN_PORTS = {
  from: PORTS_OF_ALL.from + PART * PART_SIZE,
  to: PORTS_OF_ALL.from + (PART + 1) * PART_SIZE,
};

/** Never the same twice: several are often taken before any is listened on. */
let lastPort = randomInt(OWN_PORTS.from, OWN_PORTS.to);

/** A TCP port of 127.0.0.1 that is free, to listen on later. */
export async function freePort(): Promise<number> {
  for (;;) {
    lastPort = lastPort + 1 < OWN_PORTS.to ? lastPort + 1 : OWN_PORTS.from;
    const port = lastPort;
    if (await isFree(port)) {
      return port;
    }
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
