import { Argument, Command, Option, type CommanderError } from 'commander';
import { readFullVersion } from '../../common/version.js';
import { devices } from './account/devices.command.js';
import { encryption } from './account/encryption.command.js';
import { key } from './account/key.command.js';
import { login, signup } from './account/login.command.js';
import { deleteAccount, logout } from './account/logout.command.js';
import { tokens } from './receivers/tokens.command.js';
import { watch } from './account/watch.command.js';
import { whoami } from './account/whoami.command.js';
import type { CliContext, CommandGroup, CommandSpec, OptionSpec } from './command.js';
import { CliError, EXIT, EXIT_HELP, usageError } from './cli-error.js';
import { completionOf } from './completion/completion.command.js';
import { channels } from './notify/channels.command.js';
import { deliveries } from './notify/deliveries.command.js';
import { notify } from './notify/notify.command.js';
import { preferences } from './notify/preferences.command.js';
import { webhook } from './webhook/webhook.command.js';
import { account } from './operator/account.command.js';
import { audit } from './operator/audit.command.js';
import { copy } from './operator/copy.command.js';
import { doctor } from './doctor/doctor.command.js';
import { invite } from './operator/invite.command.js';
import { keys } from './operator/keys.command.js';
import { migrate } from './operator/migrate.command.js';
import { policy } from './operator/policy.command.js';
import { reseal } from './operator/reseal.command.js';
import { signals } from './signals/signals.command.js';
import { Output, type Streams } from './output.js';
import { ask } from './approvals/ask.command.js';
import { hook } from './hooks/hook.command.js';
import { requests } from './approvals/requests.command.js';
import { programs } from './programs/programs.command.js';
import { config } from './server/config.command.js';
import { guard } from './server/guard.command.js';
import { serve } from './server/serve.command.js';

type Spec = CommandSpec | CommandGroup;

/** Every command, under its heading and in the order of the help. */
const COMMANDS: Readonly<Record<string, readonly Spec[]>> = {
  'Yourself:': [signup, login, logout, whoami, key, encryption, devices, programs, deleteAccount],
  'Notifications:': [notify, deliveries, channels, tokens, preferences],
  'Requests:': [ask, requests, hook],
  'Clients:': [watch, webhook],
  'Operators:': [
    serve,
    guard,
    config,
    doctor,
    migrate,
    copy,
    reseal,
    policy,
    account,
    invite,
    keys,
    signals,
    audit,
  ],
};

const FIRST_STEPS = `
Environment:
  GATEHOUSE_SERVER  server to use without --server
  GATEHOUSE_TOKEN   token of a session, used in place of the stored login,
                    and never stored

Examples:
  $ gatehouse serve
  $ gatehouse signup --server http://127.0.0.1:3000
  $ gatehouse channels add https://ntfy.sh/my-topic --preset ntfy
  $ gatehouse notify doctor
`;

/** Each command has it, so that it can be anywhere among the options of one. */
const JSON_OPTION = new Option(
  '--json',
  'print one JSON object a line, errors too (on standard error)',
);

export interface Shell {
  readonly environment: CliContext['environment'];
  readonly streams: Streams;
  exitCode: number;
  server?: string | undefined;
}

export function buildProgram(shell: Shell): Command {
  const program = new Command('gatehouse')
    .description('Runs a Gatehouse server, and uses one from the command line.')
    .version(readFullVersion(), '-V, --version', 'print the version')
    .addOption(JSON_OPTION)
    // Otherwise `--title --version` prints the version with exit code 0, which for `ask` means allowed.
    .enablePositionalOptions()
    .configureHelp({
      // Else a long name of a command stops the wrapping of all descriptions.
      minWidthToWrap: 20,
      // Every command has options: to say so would push its description into a second line.
      subcommandTerm: (one) => `${one.name()} ${one.usage().replace(/\[options\] ?/, '')}`.trim(),
    })
    .configureOutput({
      writeOut: (text) => void shell.streams.out.write(text),
      writeErr: (text) => void shell.streams.error.write(text),
      // main.ts prints the failure, as JSON with --json.
      outputError: () => undefined,
    })
    .exitOverride((error) => refuse(error, program))
    .addHelpText('after', ({ command }) => wrapped(`${EXIT_HELP}${FIRST_STEPS}`, command));
  const groups: typeof COMMANDS = { ...COMMANDS, 'Others:': [completionOf(program)] };
  for (const [heading, specs] of Object.entries(groups)) {
    program.commandsGroup(heading);
    specs.forEach((spec) => register(program, spec, shell));
  }
  // Puts `help` under the last heading.
  return program.helpCommand(true);
}

function register(parent: Command, spec: Spec, shell: Shell): void {
  const isDefault = 'isDefault' in spec && spec.isDefault === true;
  const command = parent.command(spec.name, { isDefault }).description(spec.description);
  command.exitOverride((error) => refuse(error, command));
  const { help } = spec;
  if (help !== undefined) {
    command.addHelpText('after', () => wrapped(help, command));
  }
  if ('commands' in spec) {
    spec.commands.forEach((one) => register(command, one, shell));
    command.addOption(JSON_OPTION);
    showExamples(
      command,
      spec.commands.map(({ examples: [first] }) => first),
    );
    return;
  }
  spec.args?.forEach((argument) => command.addArgument(toArgument(argument)));
  spec.options?.forEach((option) => command.addOption(toOption(option)));
  command.addOption(JSON_OPTION);
  showExamples(command, spec.examples);
  command.action(() => run(command, spec, shell));
}

/** Fits paragraphs to the terminal, as the library does with options. Lines that begin with a space stay. */
function wrapped(help: string, command: Command): string {
  const helper = command.createHelp();
  const width = command.configureOutput().getOutHelpWidth?.() ?? 80;
  return help
    .trimEnd()
    .replaceAll(/^\S.*(?:\n\S.*)*/gm, (lines) =>
      helper.boxWrap(lines.replaceAll('\n', ' '), width),
    );
}

function showExamples(command: Command, examples: readonly string[]): void {
  const lines = examples.map((line) => `  $ ${line}`);
  command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** Pages and help say "sign in"; the closest name would be `signup`. */
const SIGN_IN = /^(unknown command 'sign-?in')[^]*$/;

/** @throws CommanderError after help or the version was printed, else CliError (usage) */
function refuse(error: CommanderError, command: Command): never {
  if (error.exitCode === 0 || error.code === 'commander.help') {
    throw error;
  }
  const { parent } = command;
  // The word went to the command that runs without a subcommand, and is the wrong name of one.
  const isExcess = error.code === 'commander.excessArguments';
  if (isExcess && parent !== null && parent.args[0] === command.args[0]) {
    throw usageError(`unknown command '${command.args[0]}'`, helpHint(parent));
  }
  const message = error.message.replace(/^error: /, '');
  throw usageError(message.replace(SIGN_IN, '$1\n(Did you mean login?)'), helpHint(command));
}

function helpHint(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) {
    names.unshift(one.name());
  }
  return `Run: ${names.join(' ')} --help`;
}

function toArgument([syntax, help, choices]: NonNullable<CommandSpec['args']>[number]): Argument {
  const argument = new Argument(syntax, help);
  return choices === undefined ? argument : argument.choices(choices);
}

function toOption([flags, help, extra = {}]: OptionSpec): Option {
  const { isRequired = false, choices, conflicts = [], parse } = extra;
  const option = new Option(flags, help).makeOptionMandatory(isRequired).conflicts([...conflicts]);
  if (choices !== undefined) {
    option.choices(choices);
  }
  if (parse !== undefined) {
    option.argParser(parse as (text: string, before: unknown) => unknown);
  }
  return option;
}

interface CommonOptions {
  readonly json?: boolean;
  readonly server?: string;
  /** Present on commands that print a list. */
  readonly fields?: readonly string[];
}

async function run(command: Command, spec: CommandSpec, shell: Shell): Promise<void> {
  const options = command.optsWithGlobals<CommonOptions>();
  const output = new Output(shell.streams, options.json === true, options.fields);
  const { environment } = shell;
  shell.server = options.server;
  try {
    const exitCode = await spec.run({ environment, options, args: command.args, output });
    shell.exitCode = exitCode ?? EXIT.ok;
  } catch (error) {
    const isUsage = error instanceof CliError && error.facts.exitCode === EXIT.usage;
    throw isUsage && error.facts.hint === undefined
      ? new CliError(error.message, { ...error.facts, hint: helpHint(command) })
      : error;
  }
}
