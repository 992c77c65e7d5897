import type { ChildProcess } from 'node:child_process';

/**
 * A process in which servers run one after the other. The worker of Jest keeps it between its spec files: a start in it
 * takes a fraction of the work of a new process, and its code is compiled.
 */
export interface ServerProcess {
  readonly child: ChildProcess;
  /** The newest part of what the server has printed. */
  readonly output: string;
}

/** Returns a process in which no server runs. */
export function takeServerProcess(): ServerProcess;

/** Takes back a process whose server has closed. */
export function keepServerProcess(process: ServerProcess): void;
