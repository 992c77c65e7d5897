import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { PACKAGE_ROOT } from '../../../common/package-root.js';
import { databaseDirectory, type DataDirectory, openDataDirectory } from './data-directory.js';
import type { EmbeddedWorkerData, WorkerRequest } from './embedded-worker.js';

/** A thread needs compiled code, also when this module runs from its source. */
const WORKER = new URL('dist/bin/embedded-worker.js', PACKAGE_ROOT);
const PORT = 5432;
/** The limit of socket paths: 107 bytes on Linux, 103 on macOS. */
const MAX_SOCKET_PATH_BYTES = 103;
const IDLE_IN_TRANSACTION_MS = 30_000;
const STOP_LIMIT_MS = 10_000;
/** Its JavaScript objects are short-lived answers. The default takes more memory. */
const YOUNG_GENERATION_MB = 4;

interface EmbeddedDatabaseOptions {
  readonly dataDir: string;
  /** Called once when the database ends without {@link EmbeddedDatabase.stop}. */
  readonly onExit?: (error: Error) => void;
  readonly stopLimitMs?: number;
}

/** A running database, as `pg` connects to it. ADR 2 lists its differences from a server. */
export interface EmbeddedDatabase {
  /** `host` is the directory of the Unix socket. The directory is private: no password. */
  readonly address: {
    readonly host: string;
    readonly port: number;
    readonly username: string;
    readonly database: string;
  };
  /** Closes connections, writes a checkpoint and releases the directory, within the limit. */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on `dataDir`/db and resolves when it accepts connections.
 * @throws DataDirectoryInUseError when another process runs on `dataDir`
 */
export async function startEmbeddedDatabase(
  options: EmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  const directory = await openDataDirectory(options.dataDir);
  const socketDir = await makeSocketDirectory(directory);
  const forgetSocket = (): void => rmSync(socketDir, { recursive: true, force: true });
  process.once('exit', forgetSocket);
  const cleanUp = async (): Promise<void> => {
    process.removeListener('exit', forgetSocket);
    forgetSocket();
    await directory.release();
  };
  try {
    const worker = await startWorker(directory, socketDir);
    return supervise(worker, socketDir, cleanUp, options);
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** Lies in the data directory if the path is short enough: `kill -9` leaves no file elsewhere. */
async function makeSocketDirectory({ path }: DataDirectory): Promise<string> {
  const inside = join(path, 'run');
  if (Buffer.byteLength(socketPathIn(inside)) > MAX_SOCKET_PATH_BYTES) {
    return mkdtemp(join(tmpdir(), 'gh-'));
  }
  await rm(inside, { recursive: true, force: true });
  await mkdir(inside, { mode: 0o700 });
  return inside;
}

function socketPathIn(directory: string): string {
  return join(directory, `.s.PGSQL.${PORT}`);
}

async function startWorker(directory: DataDirectory, socketDir: string): Promise<Worker> {
  const data: EmbeddedWorkerData = {
    databaseDir: databaseDirectory(directory.path),
    socketPath: socketPathIn(socketDir),
    idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
  };
  // The flags of this process (--input-type, --eval) must not apply to the thread.
  const worker = new Worker(WORKER, {
    workerData: data,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  await new Promise<void>((done, fail) => {
    worker.once('message', () => done());
    worker.once('error', fail);
    worker.once('exit', () => fail(new Error('The embedded database ended while it started')));
  });
  worker.removeAllListeners();
  return worker;
}

function supervise(
  worker: Worker,
  socketDir: string,
  cleanUp: () => Promise<void>,
  { onExit, stopLimitMs = STOP_LIMIT_MS }: EmbeddedDatabaseOptions,
): EmbeddedDatabase {
  let cause: unknown;
  let stopping: Promise<void> | null = null;
  const exited = new Promise<void>((done) => worker.once('exit', () => done())).then(cleanUp);
  worker.on('error', (error) => {
    cause = error;
  });
  worker.once('exit', () => {
    if (!stopping) {
      onExit?.(new Error('The embedded database ended unexpectedly', { cause }));
    }
  });
  return {
    address: { host: socketDir, port: PORT, username: 'postgres', database: 'postgres' },
    stop: () => {
      stopping ??= stopWorker(worker, exited, stopLimitMs);
      return stopping;
    },
  };
}

async function stopWorker(worker: Worker, exited: Promise<void>, limitMs: number): Promise<void> {
  const stop: WorkerRequest = 'stop';
  worker.postMessage(stop);
  // A thread that runs an endless statement reads no message. Its committed data is safe.
  const limit = setTimeout(() => void worker.terminate(), limitMs);
  await exited;
  clearTimeout(limit);
}
