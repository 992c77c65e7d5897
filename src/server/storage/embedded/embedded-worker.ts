import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { loadDatabaseTemplate } from '../database-template.js';
import { BackendQueue, listenForSessions } from './embedded-sessions.js';

export interface EmbeddedWorkerData {
  readonly databaseDir: string;
  readonly socketPath: string;
  readonly idleInTransactionMs: number;
}

/** The only request to the thread: end with a shutdown checkpoint. */
export type WorkerRequest = 'stop';

/**
 * WebAssembly zeroes all buffers at the start, so their memory is allocated even if unused;
 * PostgreSQL's default is 128 MB. Other pages are read from the cache of the operating system.
 */
const SETTINGS = ['-c', 'shared_buffers=8MB'];

async function serve(): Promise<void> {
  const { databaseDir, socketPath, idleInTransactionMs } = workerData as EmbeddedWorkerData;
  if (!existsSync(join(databaseDir, 'PG_VERSION'))) {
    await loadDatabaseTemplate(databaseDir);
  }
  const database = await openDatabase(databaseDir);
  const queue = new BackendQueue((messages) => run(database, messages), idleInTransactionMs);
  const server = await listenForSessions(socketPath, queue);
  parentPort?.once('message', () => {
    void server.close().then(async () => {
      await database.close();
      parentPort?.close();
    });
  });
  parentPort?.postMessage('ready');
}

async function openDatabase(dataDir: string): Promise<PGlite> {
  try {
    return await PGlite.create({
      dataDir,
      startParams: [...PGlite.defaultStartParams, ...SETTINGS],
    });
  } catch (error) {
    // PostgreSQL in WebAssembly ends without a reason, on a full disk too.
    const { bavail, bsize } = await statfs(dataDir);
    const free = Math.floor((bavail * bsize) / 2 ** 20);
    const message = `The embedded database ${dataDir} does not start, with ${free} MiB free on its disk`;
    throw new Error(`${message}: ${reasonOf(error)}`, { cause: error });
  }
}

/** WASI's number of ENOSPC. */
const NO_SPACE = 51;

/** The file system of the embedded database throws its number, and no Error. */
function reasonOf(error: unknown): string {
  if (error instanceof Error) {
    return error.message;
  }
  const errno = typeof error === 'object' && error !== null && 'errno' in error ? error.errno : '';
  return errno === NO_SPACE
    ? 'no space left on device'
    : `error ${String(errno)} of its file system`;
}

/**
 * PGlite parses each answer that it collects itself, and keeps what it parsed; only the method with a callback does not.
 * That method runs the messages before it returns its promise, so that this function stays synchronous.
 */
function run(database: PGlite, messages: Buffer): Uint8Array {
  const answer: Buffer[] = [];
  const onRawData = (bytes: Uint8Array) => answer.push(Buffer.from(bytes));
  database.execProtocolRawStream(messages, { syncToFs: false, onRawData }).catch(die);
  return Buffer.concat(answer);
}

/** Ends the thread when the backend fails to answer: it cannot serve any session after that. */
function die(cause: unknown): void {
  queueMicrotask(() => {
    throw new Error('The embedded PostgreSQL ended in the middle of a message', { cause });
  });
}

void serve();
