import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Runs the action while no other process does so for the same folder.
 *
 * Who runs it listens on a Unix socket, and the others wait until their connection to it ends,
 * which it does however the process dies. It saves work and no more: two builds at the same time
 * are right too, because each has a folder of its own.
 *
 * @template T
 * @param {string} folder
 * @param {() => Promise<T>} action
 * @returns {Promise<T>}
 */
export async function oneAtATime(folder, action) {
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, 16);
  // Socket paths are limited to about 107 bytes; a checkout may be deeper than that.
  const path = join(tmpdir(), `gatehouse-build-${digest}.sock`);
  let lock = await listen(path);
  while (lock === null) {
    await endOfHolder(path);
    lock = await listen(path);
  }
  try {
    return await action();
  } finally {
    lock.server.close();
    lock.waiting.forEach((socket) => socket.destroy());
  }
}

/** @returns null while another process listens there */
async function listen(path) {
  const waiting = new Set();
  const server = createServer((socket) => {
    waiting.add(socket);
    socket.on('error', () => undefined).on('close', () => waiting.delete(socket));
  });
  try {
    server.listen(path);
    await once(server, 'listening');
    return { server, waiting };
  } catch (error) {
    if (error.code === 'EADDRINUSE') {
      return null;
    }
    throw error;
  }
}

/** Resolves when no process listens there any more. */
async function endOfHolder(path) {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    socket.resume();
    await once(socket, 'close');
  } catch (error) {
    if (error.code === 'ECONNREFUSED') {
      // It was killed, and its socket stayed.
      rmSync(path, { force: true });
    }
  }
}
