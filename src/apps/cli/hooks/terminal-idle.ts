import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The agent and a shell or two stand between the hook and the terminal. */
const MAX_ANCESTORS = 8;
const LOOKED_UP_MS = 2000;

/**
 * Returns the milliseconds since the last key press in the terminal of this process. null = it has no
 * terminal, as below an editor, or the system does not report it.
 */
export async function terminalIdleMs(now = Date.now()): Promise<number | null> {
  const terminal = await terminalOf(process.ppid);
  try {
    return terminal === null ? null : Math.max(0, now - (await stat(terminal)).atimeMs);
  } catch {
    return null;
  }
}

/** Hooks have pipes in place of the terminal, so that an ancestor has to name it. */
async function terminalOf(pid: number): Promise<string | null> {
  let next = pid;
  for (let count = 0; count < MAX_ANCESTORS && next > 1; count += 1) {
    const found = await lookUp(next);
    if (found === null) {
      return null;
    }
    if (found.terminal !== null) {
      return found.terminal;
    }
    next = found.parent;
  }
  return null;
}

async function lookUp(pid: number): Promise<{ parent: number; terminal: string | null } | null> {
  try {
    const args = ['-o', 'ppid=,tty=', '-p', String(pid)];
    const { stdout } = await promisify(execFile)('ps', args, { timeout: LOOKED_UP_MS });
    const [, parent = '', name = ''] = /^\s*(\d+)\s+(\S+)/.exec(stdout) ?? [];
    const hasTerminal = /^[\w/]+$/.test(name);
    return { parent: Number(parent), terminal: hasTerminal ? join('/dev', name) : null };
  } catch {
    return null;
  }
}
