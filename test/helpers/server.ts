import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { NetworkNamespace } from './network-namespace.js';
import { createStore, DATABASE_TIMES, type Store } from './server-store.js';
import { freePort } from './service-process.js';
import { waitFor } from './wait.js';

export { IS_POSTGRES } from './server-store.js';

const DIST = process.env['GATEHOUSE_TEST_DIST'] ?? 'dist';
const MAIN = fileURLToPath(new URL(`../../${DIST}/bin/server.js`, import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const KEPT_LOG_CHARACTERS = 1_000_000;

/** Tests ask more often than any client: only the specs about limits have some. */
const TEST_ENVIRONMENT = {
  HOST: '127.0.0.1',
  SERVICE_RATE_LIMIT_PER_IP_PER_MINUTE: '0',
  SERVICE_RATE_LIMIT_PER_ACCOUNT_PER_MINUTE: '0',
  AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE: '0',
  SERVICE_UPDATES_HANDSHAKE_RATE_LIMIT_PER_IP_PER_MINUTE: '0',
  SERVICE_UPDATES_MAX_UNAUTHENTICATED_PER_IP: '1000',
  SERVICE_SHUTDOWN_GRACE_SECONDS: '600',
  ...DATABASE_TIMES,
};

export interface ServerOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Data to run on; it stays when the server stops. Default: fresh, and removed with the server. */
  readonly store?: Store;
  /** A network of its own to run in, not with a `host`; then give HOST `0.0.0.0`. */
  readonly network?: NetworkNamespace;
  /** False resolves as soon as the server listens. Default true. */
  readonly untilReady?: boolean;
  /** What runs it; default: a process of its own, as in production. */
  readonly host?: ServerHost;
}

/** Runs a server with these variables and no others but PATH. */
export interface ServerHost {
  /** @param enter a program and its arguments that start it, for example in a network namespace */
  run(env: Readonly<Record<string, string>>, enter?: readonly string[]): Running;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The built server, running in a process of its own. */
export interface Server {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** null with the embedded database. */
  readonly databaseUrl: string | null;
  /** What has arrived of everything the process wrote, newest megabyte. */
  logs(): string;
  /** Waits for a line in {@link logs}: it arrives after the answer that it is about. */
  logged(pattern: RegExp): Promise<RegExpExecArray>;
  /** How the process ended; pending while it runs. */
  readonly exited: Promise<Exit>;
  /** Sends the signal and waits until the process is gone. */
  kill(signal: NodeJS.Signals): Promise<Exit>;
  /** Ends the process if it runs and starts another on the same data and port. */
  restart(): Promise<Server>;
  /** Ends the process, and removes the data unless it was given. */
  stop(): Promise<void>;
}

/** Starts a server. The process never outlives this one. */
export async function startServer(options: ServerOptions = {}): Promise<Server> {
  const store = options.store ?? (await createStore());
  try {
    return await launch({ ...options, store }, options.store === undefined);
  } catch (error) {
    await (options.store === undefined && store.drop());
    throw error;
  }
}

async function launch(
  options: ServerOptions & { readonly store: Store },
  ownsStore: boolean,
): Promise<Server> {
  const { store, network, host = ownProcess } = options;
  // One that is still its own when it starts again.
  const PORT = String(await freePort());
  const env = { ...TEST_ENVIRONMENT, PORT, ...store.env, ...options.env };
  const running = host.run(env, network?.enter);
  const port = await orKill(running, listeningPort(running));
  const url = `http://${network?.address ?? '127.0.0.1'}:${port}`;
  if (options.untilReady !== false) {
    await orKill(running, untilReady(url, running));
  }
  return {
    url,
    port,
    pid: running.child.pid ?? 0,
    databaseUrl: store.databaseUrl,
    logs: running.logs,
    logged: (pattern) =>
      poll(`a log line ${pattern}`, running, () => pattern.exec(running.logs()) ?? undefined),
    exited: running.exited,
    kill: running.kill,
    restart: async () => {
      await running.kill('SIGKILL');
      return launch({ ...options, env: { ...options.env, PORT: String(port) } }, ownsStore);
    },
    stop: async () => {
      await running.kill('SIGKILL');
      await (ownsStore && store.drop());
    },
  };
}

/** A server that was begun and may not listen yet. */
export interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  logs(): string;
  kill(signal: NodeJS.Signals): Promise<Exit>;
}

const ownProcess: ServerHost = { run: runProcess };

function runProcess(env: Readonly<Record<string, string>>, enter: readonly string[] = []): Running {
  const [file = process.execPath, ...args] = [...enter, process.execPath, MAIN];
  const child = spawn(file, args, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-KEPT_LOG_CHARACTERS);
    });
  }
  const killOnExit = (): void => void child.kill('SIGKILL');
  process.once('exit', killOnExit);
  const exited = once(child, 'close').then(([code, signal]: unknown[]): Exit => {
    process.removeListener('exit', killOnExit);
    return { code: code as number | null, signal: signal as NodeJS.Signals | null };
  });
  const kill = (signal: NodeJS.Signals): Promise<Exit> => {
    child.kill('SIGCONT');
    child.kill(signal);
    return exited;
  };
  return { child, exited, logs: () => output, kill };
}

/** @returns what `work` gives; kills the server when it fails */
function orKill<Value>({ logs, kill }: Running, work: Promise<Value>): Promise<Value> {
  return work.catch(async (cause: unknown) => {
    await kill('SIGKILL');
    throw new Error(`The server did not start: ${logs()}`, { cause });
  });
}

function listeningPort(running: Running): Promise<number> {
  return poll('the server listens', running, () => {
    const port = /Listening on http:\/\/[^"]*:(\d+)/.exec(running.logs())?.[1];
    return port === undefined ? undefined : Number(port);
  });
}

async function untilReady(url: string, running: Running): Promise<void> {
  await poll('the server is ready', running, () =>
    // Where a proxy is trusted, this does not use up a limit that the test is about.
    fetch(`${url}/readyz`, { headers: { 'x-forwarded-for': '192.0.2.1' } }).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    ),
  );
}

function poll<Value extends object | number | true>(
  what: string,
  { child }: Running,
  probe: () => Promise<Value | undefined> | Value | undefined,
): Promise<Value> {
  return waitFor<Value | undefined>(what, () => {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`It ended before: ${what}`);
    }
    return probe();
  }) as Promise<Value>;
}
