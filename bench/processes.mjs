import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf } from './fixtures.mjs';

/** Kernel clock ticks a second in /proc: fixed to 100 for every Linux program. */
const TICKS_PER_SECOND = 100;
const STOP_WITHIN_MS = 10_000;

/** Options of Node for a server of {@link memoryOf}. */
export const PROBE = ['--expose-gc', '--import', join(import.meta.dirname, 'process-probe.mjs')];

const running = new Set();

/**
 * The CPU each side is pinned to, so that the load generator and PostgreSQL never slow the server
 * they measure. Null = not pinned: one CPU, or a system without `taskset`.
 */
export const CPU_OF = cpuPlan();

function cpuPlan() {
  const count = availableParallelism();
  const folders = (process.env.PATH ?? '').split(delimiter);
  if (count < 2 || !folders.some((folder) => existsSync(join(folder, 'taskset')))) {
    return { server: null, load: null, database: null };
  }
  return { server: '0', load: '1', database: count > 2 ? `2-${count - 1}` : '1' };
}

/** Keeps a service, with what it has started and starts later, to a CPU. */
export function pin({ pid }, cpu) {
  for (const one of cpu === null ? [] : [pid, ...childrenOf(pid)]) {
    spawnSync('taskset', ['-acp', cpu, `${one}`]);
  }
}

/**
 * A Node program in its own process, its output kept in a file of `directory`.
 *
 * @param {{directory: string}} context
 * @param {{file: string, args?: string[], nodeArgs?: string[], env?: Record<string, string>,
 *   cpu?: string | null}} program
 */
export function startNode({ directory }, { file, args = [], nodeArgs = [], env = {}, cpu = null }) {
  const logFile = join(directory, `process-${running.size}-${Date.now()}.log`);
  const log = openSync(logFile, 'w');
  const pinned = cpu === null ? [] : ['taskset', '-c', cpu];
  const [first, ...rest] = [...pinned, process.execPath, ...nodeArgs, file, ...args];
  const child = spawn(first, rest, {
    env: { PATH: process.env.PATH, HOME: directory, NODE_ENV: 'production', ...env },
    cwd: directory,
    stdio: ['ignore', log, log, 'ipc'],
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

/** A program of the bench that is measured or is the limit. @param {object} input its only argument */
export function startProgram(context, file, input = {}, nodeArgs = []) {
  const path = resolve(import.meta.dirname, file);
  const args = [JSON.stringify(input)];
  return startNode(context, { file: path, args, nodeArgs, cpu: CPU_OF.server });
}

/** A load generator of `load/`. @param {object} input its first message, if it needs one */
export function startLoad(context, file, input) {
  const path = join(import.meta.dirname, 'load', file);
  const load = startNode(context, { file: path, cpu: CPU_OF.load });
  if (input !== undefined) {
    load.child.send(input);
  }
  return load;
}

/** A limit server of `limit/`, or of a whole path; it says its port when it listens. */
export async function startLimit(context, file, input, nodeArgs) {
  const started = startProgram(
    context,
    resolve(import.meta.dirname, 'limit', file),
    input,
    nodeArgs,
  );
  const { port, ...rest } = await messageFrom(started);
  return { ...started, ...rest, port, url: `http://127.0.0.1:${port}` };
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

/** Sends a message. @returns the next message of the process */
export function ask(started, message, withinMs) {
  const answer = messageFrom(started, withinMs);
  started.child.send(message);
  return answer;
}

/** Memory of a server with {@link PROBE}, without garbage: resident, and what heap and buffers hold. */
export async function memoryOf(server) {
  const { rss, heapUsed, external } = await ask(server, 'memory');
  return { rss, inUse: heapUsed + external };
}

/** Ends everything that is still running. */
export async function stopAll() {
  await Promise.all([...running].map(stop));
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
