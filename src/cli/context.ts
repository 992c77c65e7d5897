import type { Output } from './output.js';

/** The options of all commands; each command reads its own. */
export interface CliOptions {
  readonly json?: boolean;
  readonly server?: string;
  readonly everywhere?: boolean;
  readonly provider?: string;
  readonly keyless?: boolean;
  readonly certificate?: string;
  readonly key?: string;
  readonly ca?: string;
  readonly certificateUrl?: string;
  /** False with --no-browser. */
  readonly browser?: boolean;
  readonly check?: boolean;
  readonly plan?: boolean;
  readonly file?: string;
  readonly clientServerUrl?: string;
  readonly publicUrl?: string;
  readonly connectTo?: string;
  readonly reason?: string;
  readonly actor?: string;
  readonly since?: string;
  readonly limit?: number;
}

/** Everything a command may use of the outside. */
export interface CliContext {
  /** A copy of the process's environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly options: CliOptions;
  /** The positional arguments. */
  readonly args: readonly string[];
  readonly output: Output;
}

/** A command: resolves with the exit code, rejects with anything that was thrown. */
export type CommandRun = (context: CliContext) => number | Promise<number>;

/** Code of a command is loaded when it is called: `whoami` never waits for a server's modules. */
export type LoadCommand = () => Promise<CommandRun>;
