import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { CPU_OF, freePort } from './processes.mjs';

const READY_WITHIN_MS = 20_000;

const clusters = new Set();

/**
 * A database of the bench's own, empty. With `DATABASE_URL` it is made on that server; without, on
 * a private cluster that lives as long as the run.
 *
 * @param {string} directory for the private cluster
 * @returns {Promise<{url: string, description: string, close: () => Promise<void>}>}
 */
export async function openDatabase(directory) {
  const given = process.env.DATABASE_URL;
  const cluster = given === undefined ? await startCluster(directory) : null;
  const serverUrl = cluster?.url ?? given;
  const name = `gatehouse_bench_${randomBytes(4).toString('hex')}`;
  const version = await query(serverUrl, 'SHOW server_version');
  await query(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    description: `${version[0].server_version}, ${cluster === null ? 'the server of DATABASE_URL' : 'a private cluster'}`,
    close: async () => {
      await query(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await cluster?.stop();
    },
  };
}

/**
 * @param {number} withinMs after which PostgreSQL gives the statement up; 0 = it may take any time
 * @returns {Promise<Record<string, unknown>[]>}
 */
export async function query(url, text, values = [], withinMs = 0) {
  const client = new pg.Client({ connectionString: url, statement_timeout: withinMs });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/**
 * A cluster of its own in a folder of `directory`, with nothing in it.
 *
 * @param {string} directory
 * @param {{name?: string, settings?: Record<string, string>}} how `settings` of the server
 * @returns {Promise<{url: string, start: () => Promise<void>, stop: () => Promise<void>}>} started; `start`
 *   is for one that was stopped
 */
export async function startCluster(directory, { name = 'postgres', settings = {} } = {}) {
  const bin = binaries();
  const owner = clusterOwner();
  const data = join(directory, name);
  mkdirSync(data, { mode: 0o700 });
  if (owner.uid !== undefined) {
    chmodSync(directory, 0o755);
    chownSync(data, owner.uid, owner.gid);
  }
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'bench', '-A', 'trust', '-E', 'UTF8'], {
    ...owner,
    stdio: 'ignore',
  });
  const port = await freePort();
  const all = { ...settings, listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const given = Object.entries(all).flatMap(([setting, value]) => ['-c', `${setting}=${value}`]);
  const pinned = CPU_OF.database === null ? [] : ['taskset', '-c', CPU_OF.database];
  const [command, ...args] = [...pinned, join(bin, 'postgres'), '-D', data, '-p', `${port}`];
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  let server;
  const start = async () => {
    const started = spawn(command, [...args, ...given], { ...owner, stdio: 'ignore' });
    clusters.add(started);
    started.once('exit', () => clusters.delete(started));
    server = started;
    await untilAnswering(url);
  };
  await start();
  return { url, start, stop: () => stop(server) };
}

/** Ends the clusters that are still running. */
export async function stopClusters() {
  await Promise.all([...clusters].map(stop));
}

async function stop(server) {
  const ended = once(server, 'exit');
  server.kill('SIGINT');
  await ended;
}

function binaries() {
  try {
    return execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
  } catch (error) {
    throw new Error('The bench needs PostgreSQL: install it, or set DATABASE_URL to a server.', {
      cause: error,
    });
  }
}

/** PostgreSQL refuses to run as root: there it runs as the account its packages make. */
function clusterOwner() {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function untilAnswering(url) {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      await query(url, 'SELECT 1');
      return;
    } catch (error) {
      if (Date.now() > deadline) {
        throw error;
      }
      await sleep(50);
    }
  }
}
