import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Exit, Running, ServerHost } from './server.js';

const PROGRAM = fileURLToPath(new URL('./lane-program.mjs', import.meta.url));
/** The last line of a server, behind everything that it logged. */
const CLOSED = '"context":"Lane","msg":"Closed"';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * One process, in which servers run one after the other, for specs that try many configurations:
 * beginning a server in it takes half the work of starting a process. A signal closes the
 * server; the process runs on.
 */
export interface ServerLane extends ServerHost {
  /** Ends the process. */
  end(): Promise<void>;
}

export function createLane(): ServerLane {
  let lane: { readonly child: ChildProcess; output: string } | null = null;
  let isTaken = false;

  const processOfLane = () => {
    if (lane === null || hasEnded(lane.child)) {
      lane = startProcess();
    }
    return lane;
  };
  const run = (env: Readonly<Record<string, string>>): Running => {
    if (isTaken) {
      throw new Error('The server before this one is still open');
    }
    isTaken = true;
    const own = processOfLane();
    const { child } = own;
    own.output = '';
    child.send({ PATH: process.env['PATH'], ...env });
    let logs: string | null = null;
    const exited = new Promise<Exit>((done) => {
      const end = (): void => {
        child.off('close', end).stdout?.off('data', endWhenClosed);
        isTaken = false;
        logs = own.output;
        done({ code: child.exitCode ?? 0, signal: child.signalCode });
      };
      const endWhenClosed = (): void => {
        if (own.output.includes(CLOSED)) {
          end();
        }
      };
      child.on('close', end).stdout?.on('data', endWhenClosed);
    });
    let isClosing = false;
    const kill = (): Promise<Exit> => {
      if (!isClosing && child.connected) {
        child.send('close');
      }
      isClosing = true;
      return exited;
    };
    return { child, exited, logs: () => logs ?? own.output, kill };
  };
  return {
    run,
    end: async () => {
      if (lane !== null && !hasEnded(lane.child)) {
        const closed = once(lane.child, 'close');
        lane.child.kill('SIGKILL');
        await closed;
      }
    },
  };
}

function startProcess(): { readonly child: ChildProcess; output: string } {
  const child = spawn(process.execPath, [PROGRAM], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const lane = { child, output: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      lane.output += chunk.toString();
    });
  }
  return lane;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
