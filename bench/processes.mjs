import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Kernel clock ticks a second in /proc: fixed to 100 for every Linux program. */
const TICKS_PER_SECOND = 100;
const STOP_WITHIN_MS = 10_000;

const running = new Set();

/**
 * The CPU each side is pinned to, so that the load generator and PostgreSQL never slow the server
 * they measure. Null = not pinned: one CPU, or a system without `taskset`.
 */
export const CPU_OF = cpuPlan();

/**
 * A Node program in its own process, its output kept in a file of `directory`.
 *
 * @param {{file: string, args?: string[], nodeArgs?: string[], env?: Record<string, string>,
 *   cpu?: string | null, directory: string}} program
 */
export function startNode({ file, args = [], nodeArgs = [], env = {}, cpu = null, directory }) {
  return start({
    command: [process.execPath, ...nodeArgs, file, ...args],
    env: { PATH: process.env.PATH, HOME: directory, NODE_ENV: 'production', ...env },
    cpu,
    directory,
    channels: ['ipc'],
  });
}

/**
 * Any other program, in the foreground.
 *
 * @param {{command: string[], cpu?: string | null, directory: string}} program
 */
export function startProgram({ command, cpu = null, directory }) {
  return start({ command, env: process.env, cpu, directory, channels: [] });
}

function start({ command, env, cpu, directory, channels }) {
  const logFile = join(directory, `process-${running.size}-${Date.now()}.log`);
  const log = openSync(logFile, 'w');
  const [first, ...rest] = [...(cpu === null ? [] : ['taskset', '-c', cpu]), ...command];
  const child = spawn(first, rest, {
    env,
    cwd: directory,
    stdio: ['ignore', log, log, ...channels],
  });
  closeSync(log);
  running.add(child);
  child.once('exit', () => running.delete(child));
  return {
    child,
    pid: child.pid,
    log: () => readFileSync(logFile, 'utf8').slice(-4_000),
    stop: () => stop(child),
  };
}

/**
 * The next message of a process.
 *
 * @throws when it ends first, or says nothing within `withinMs`
 */
export async function messageFrom(started, withinMs = 30_000) {
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    return await Promise.race([
      once(started.child, 'message', { signal }).then(([message]) => message),
      once(started.child, 'exit', { signal }).then(() => {
        throw new Error(`A process ended early:\n${started.log()}`);
      }),
      sleep(withinMs, undefined, { signal }).then(() => {
        throw new Error(`A process said nothing for ${withinMs} ms:\n${started.log()}`);
      }),
    ]);
  } finally {
    waiting.abort();
  }
}

/** Ends everything that is still running. */
export async function stopAll() {
  await Promise.all([...running].map(stop));
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** CPU time a process has used since it started, all threads, in ms. */
export function cpuTimeMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}

/** Time the main thread of a process was ready to run while others had its CPU, in ms. */
export function crowdedOutMs(pid) {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000;
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid) {
  return statusBytes(pid, 'VmRSS');
}

/** The most memory a process had resident since its start, in bytes. */
export function peakBytes(pid) {
  return statusBytes(pid, 'VmHWM');
}

function statusBytes(pid, field) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)[1]) * 1024;
}

async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(force);
}

function cpuPlan() {
  const count = availableParallelism();
  const hasTaskset = (process.env.PATH ?? '')
    .split(':')
    .some((folder) => exists(join(folder, 'taskset')));
  if (count < 2 || !hasTaskset) {
    return { server: null, load: null, database: null };
  }
  return { server: '0', load: '1', database: count > 2 ? `2-${count - 1}` : '1' };
}

function exists(file) {
  try {
    closeSync(openSync(file, 'r'));
    return true;
  } catch {
    return false;
  }
}
