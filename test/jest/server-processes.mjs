import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** Linked from server-pool-program.mjs, because its three thousand modules take four starts to read. */
const PROGRAM = join(ROOT, 'dist/server-pool/server-pool.js');

/** Few specs run more servers at once. */
const MOST_IDLE = 3;
/** Bounds the memory that the servers of a process leave behind. */
const MOST_SERVERS = 40;
const KEPT_CHARACTERS = 1_000_000;

const idle = [];

export function takeServerProcess() {
  const taken = idle.splice(0).filter((process) => !hasEnded(process));
  const process = taken.pop() ?? start();
  idle.push(...taken);
  process.servers += 1;
  process.output = '';
  return process;
}

export function keepServerProcess(process) {
  if (idle.length < MOST_IDLE && process.servers < MOST_SERVERS) {
    idle.push(process);
  } else {
    process.child.kill('SIGKILL');
  }
}

function start() {
  const child = spawn(globalThis.process.execPath, [PROGRAM], {
    cwd: ROOT,
    env: { PATH: globalThis.process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const process = { child, output: '', servers: 0 };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on(
      'data',
      (chunk) => (process.output = (process.output + chunk).slice(-KEPT_CHARACTERS)),
    );
    stream.unref();
  }
  // The worker ends without waiting for it, and it ends with the worker.
  child.unref();
  child.channel.unref();
  return process;
}

function hasEnded({ child }) {
  return child.exitCode !== null || child.signalCode !== null;
}
