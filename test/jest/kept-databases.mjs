import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';

const PROGRAM = join(import.meta.dirname, '../fixtures/programs/kept-database-program.mjs');

/** Few specs have more databases at once. */
const MOST_IDLE = 2;
const idle = [];

/**
 * Returns an embedded database without rows, in a process that the worker keeps: a start takes as long as fifty
 * resets. `pg` connects to it as to any PostgreSQL.
 */
export async function takeDatabase() {
  const kept = idle.pop();
  return kept !== undefined && isRunning(kept) ? kept : start();
}

/** Removes all rows and keeps the process, or ends it. */
export async function returnDatabase(database) {
  try {
    if (isRunning(database) && idle.length < MOST_IDLE) {
      await empty(database.url);
      idle.push(database);
      return;
    }
  } catch {
    // A session may hold the only backend. The database is not kept.
  }
  end(database);
}

async function start() {
  const { TEST_EMBEDDED_TEMPLATE: template, PATH, TMPDIR } = process.env;
  const dataDir = await mkdtemp(join(dirname(template), 'kept-'));
  await cp(template, join(dataDir, 'db'), { recursive: true });
  const child = spawn(process.execPath, [PROGRAM, dataDir], {
    env: { PATH, ...(TMPDIR !== undefined && { TMPDIR }) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [address] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`The kept database ended with ${code} as it started`);
    }),
  ]);
  // The worker ends without waiting for it, and it ends with the worker.
  child.unref();
  child.channel.unref();
  process.once('exit', () => child.kill('SIGKILL'));
  const { host, port, username, database } = address;
  const url = `postgres://${username}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
  return { child, dataDir, url };
}

function end({ child, dataDir }) {
  child.kill('SIGKILL');
  void rm(dataDir, { recursive: true, force: true });
}

function isRunning({ child }) {
  return child.exitCode === null && child.signalCode === null;
}

async function empty(connectionString) {
  const client = new pg.Client({ connectionString, query_timeout: 10_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query(
      `SELECT string_agg(format('%I', relname), ', ') AS tables FROM pg_class
       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'schema_migration'`,
    );
    await client.query(`TRUNCATE ${rows[0].tables} RESTART IDENTITY CASCADE`);
  } finally {
    await client.end().catch(() => undefined);
  }
}
