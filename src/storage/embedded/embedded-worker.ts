import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { unpackDatabase } from '../database-template.js';
import { BackendQueue, listenForSessions } from './embedded-sessions.js';

/** What the thread is started with. */
export interface EmbeddedWorkerData {
  readonly databaseDir: string;
  readonly socketPath: string;
  readonly idleInTransactionMs: number;
}

/** What the thread is asked, once: end with a shutdown checkpoint. */
export type WorkerRequest = 'stop';

/**
 * WebAssembly writes zeros over all buffers at the start, so memory is taken for them whether they are used
 * or not; PostgreSQL's default is 128 MB. Pages beyond them are read from the cache of the system.
 */
const SETTINGS = ['-c', 'shared_buffers=8MB'];

async function serve(): Promise<void> {
  const { databaseDir, socketPath, idleInTransactionMs } = workerData as EmbeddedWorkerData;
  if (!existsSync(join(databaseDir, 'PG_VERSION'))) {
    await unpackDatabase(databaseDir);
  }
  const database = await PGlite.create({
    dataDir: databaseDir,
    startParams: [...PGlite.defaultStartParams, ...SETTINGS],
  });
  const queue = new BackendQueue((messages) => runOrDie(database, messages), idleInTransactionMs);
  const server = await listenForSessions(socketPath, queue);
  parentPort?.once('message', () => {
    void server.close().then(async () => {
      await database.close();
      parentPort?.close();
    });
  });
  // One report, without content: the socket accepts connections.
  parentPort?.postMessage('ready');
}

/** A backend that failed to answer cannot serve any session: the thread ends with it. */
function runOrDie(database: PGlite, messages: Buffer): Uint8Array {
  try {
    return database.execProtocolRawSync(messages);
  } catch (cause) {
    const error = new Error('The embedded PostgreSQL ended in the middle of a message', { cause });
    queueMicrotask(() => {
      throw error;
    });
    throw error;
  }
}

void serve();
