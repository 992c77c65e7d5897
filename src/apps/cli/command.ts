import type { Output } from './output.js';

/** An option of a command: flags in commander's notation and a line of help. */
export type OptionSpec = readonly [flags: string, help: string, extra?: OptionExtra];

interface OptionExtra {
  readonly isRequired?: boolean;
  readonly choices?: readonly string[];
  readonly conflicts?: readonly string[];
  /** Parses the text; `before` is the previous value of the same option. */
  readonly parse?: (text: string, before: never) => unknown;
}

export interface CliContext<Options = object> {
  /** A copy of the process's environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly options: Options;
  readonly args: readonly string[];
  readonly output: Output;
}

interface Named {
  readonly name: string;
  readonly description: string;
  /** Text after the options in the help. */
  readonly help?: string;
}

export interface CommandSpec extends Named {
  /** In commander's notation: `<required>`, `[optional]`, `<many...>`. */
  readonly args?: readonly (readonly [syntax: string, help: string, choices?: readonly string[]])[];
  readonly options?: readonly OptionSpec[];
  /** The help of a group shows the first example of each of its commands. */
  readonly examples: readonly [string, ...string[]];
  /** True for the command of a group that runs without a subcommand. */
  readonly isDefault?: boolean;
  /** Resolves with the exit code, 0 by default; may reject with any error. */
  run(context: CliContext): Promise<number | void>;
}

export interface CommandGroup extends Named {
  readonly commands: readonly CommandSpec[];
}

/** All declarations are loaded at every start, so `run` imports heavy modules itself. */
export function command<const Specs extends readonly OptionSpec[] = readonly []>(
  spec: Omit<CommandSpec, 'options' | 'run'> & {
    readonly options?: Specs;
    run(context: CliContext<OptionsOf<Specs>>): Promise<number | void>;
  },
): CommandSpec {
  return spec;
}

export type OptionsOf<Specs extends readonly OptionSpec[]> = {
  readonly [Spec in Specs[number] as NameOf<Spec[0]>]?: ValueOf<Spec>;
};

type NameOf<Flags extends string> = Flags extends
  | `--no-${infer Name}`
  | `--${infer Name} ${string}`
  | `--${infer Name}`
  ? CamelCase<Name>
  : never;

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

type ValueOf<Spec extends OptionSpec> = Spec[2] extends {
  readonly parse: (...args: never) => infer Value;
}
  ? Value
  : Spec[0] extends `${string}<${string}`
    ? string
    : boolean;
