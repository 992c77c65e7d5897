import type { Output } from './output.js';

/** An option of a command: flags in commander's notation, and its line of help. */
export type OptionSpec = readonly [flags: string, help: string, extra?: OptionExtra];

interface OptionExtra {
  readonly isRequired?: boolean;
  readonly choices?: readonly string[];
  /** Attribute names of options that may not be given together with this one. */
  readonly conflicts?: readonly string[];
  /** Reads the text; `before` is the value of the same option given earlier. */
  readonly parse?: (text: string, before: never) => unknown;
}

/** What a command may use of the outside. */
export interface CliContext<Options = object> {
  /** A copy of the process's environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly options: Options;
  /** The positional arguments. */
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
  readonly examples?: readonly string[];
  /** Resolves with the exit code, 0 by default; may reject with any error. */
  run(context: CliContext): Promise<number | void>;
}

export interface CommandGroup extends Named {
  readonly commands: readonly CommandSpec[];
}

/**
 * Declares a command. All declarations are loaded at every start, so `run` imports what is heavy
 * (the client kit, the sender, configuration, storage) itself. Its options have the types that
 * `options` declares.
 */
export function command<const Specs extends readonly OptionSpec[] = readonly []>(
  spec: Omit<CommandSpec, 'options' | 'run'> & {
    readonly options?: Specs;
    run(context: CliContext<OptionsOf<Specs>>): Promise<number | void>;
  },
): CommandSpec {
  return spec;
}

/** The values of declared options, by attribute name: `--event-file <file>` is `eventFile?: string`. */
export type OptionsOf<Specs extends readonly OptionSpec[]> = {
  readonly [Spec in Specs[number] as NameOf<Spec[0]>]?: ValueOf<Spec>;
};

type NameOf<Flags extends string> = Flags extends
  `--no-${infer Name}` | `--${infer Name} ${string}` | `--${infer Name}`
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
