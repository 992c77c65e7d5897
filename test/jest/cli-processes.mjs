import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const CLI = join(ROOT, 'dist/bin/gatehouse.js');
const PROGRAM = join(ROOT, 'test/fixtures/programs/cli-pool-program.mjs');
/** Comes after the output of a command, with its exit code. */
const END = '<the command ended with ';
const ENDED = new RegExp(`${END}(\\d+)>\\n$`);

/** Few specs run more commands at once. */
const MOST_IDLE = 2;
/** Bounds the memory that the commands of a process leave behind. */
const MOST_COMMANDS = 200;

const idle = [];

/** Runs a command in a process of the worker, in which others ran before: a start takes most of its work. */
export function runCommand(command) {
  const taken = idle.pop();
  const process = taken !== undefined && isRunning(taken) ? taken : start();
  const { child } = process;
  process.commands += 1;
  child.channel.ref();
  const output = { stdout: '', stderr: '' };
  return new Promise((resolve) => {
    const end = (code) => {
      child.off('close', end);
      [child.stdout, child.stderr].forEach((stream) => stream.removeAllListeners('data'));
      const [stdout, stderr] = [output.stdout, output.stderr].map((text) =>
        text.replace(ENDED, ''),
      );
      resolve({ code, stdout, stderr });
    };
    for (const name of ['stdout', 'stderr']) {
      child[name].on('data', (text) => {
        output[name] += text;
        const code = ENDED.exec(output.stdout)?.[1];
        if (code !== undefined && ENDED.test(output.stderr)) {
          keep(process);
          end(Number(code));
        }
      });
    }
    child.on('close', end);
    child.send(command);
  });
}

function keep(process) {
  process.child.channel.unref();
  if (idle.length < MOST_IDLE && process.commands < MOST_COMMANDS) {
    idle.push(process);
  } else {
    process.child.kill('SIGKILL');
  }
}

function start() {
  const child = spawn(globalThis.process.execPath, [PROGRAM, CLI, END], {
    cwd: ROOT,
    env: { PATH: globalThis.process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').unref();
  }
  // The worker ends without waiting for it, and it ends with the worker.
  child.unref();
  return { child, commands: 0 };
}

function isRunning({ child }) {
  return child.exitCode === null && child.signalCode === null;
}
