import type { ChildProcess } from 'node:child_process';

const running = new Set<ChildProcess>();
const killAll = (): void => running.forEach((child) => child.kill('SIGKILL'));

/** Kills the child when this process ends first. */
export function endWithProcess(child: ChildProcess): void {
  if (running.size === 0) {
    process.once('exit', killAll);
  }
  running.add(child);
  child.once('exit', () => {
    running.delete(child);
    if (running.size === 0) {
      process.removeListener('exit', killAll);
    }
  });
}
