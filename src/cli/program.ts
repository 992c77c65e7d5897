import { Argument, Command, Option, type CommanderError } from 'commander';
import { readVersion } from '../common/version.js';
import { devices } from './account/devices.command.js';
import { key } from './account/key.command.js';
import { login, signup } from './account/login.command.js';
import { deleteAccount, logout } from './account/logout.command.js';
import { tokens } from './account/tokens.command.js';
import { watch } from './account/watch.command.js';
import { whoami } from './account/whoami.command.js';
import type { CliContext, CommandGroup, CommandSpec, OptionSpec } from './command.js';
import { CliError, EXIT, EXIT_HELP, usageError } from './cli-error.js';
import { completionOf } from './completion/completion.command.js';
import { channels } from './notify/channels.command.js';
import { deliveries } from './notify/deliveries.command.js';
import { notify } from './notify/notify.command.js';
import { preferences } from './notify/preferences.command.js';
import { webhook } from './notify/webhook.command.js';
import { account } from './operator/account.command.js';
import { audit } from './operator/audit.command.js';
import { doctor } from './operator/doctor.command.js';
import { invite } from './operator/invite.command.js';
import { migrate } from './operator/migrate.command.js';
import { policy } from './operator/policy.command.js';
import { reseal } from './operator/reseal.command.js';
import { Output, type Streams } from './output.js';
import { config } from './server/config.command.js';
import { serve } from './server/serve.command.js';

/** Every command, in the order of the help. */
const COMMANDS: readonly (CommandSpec | CommandGroup)[] = [
  serve,
  migrate,
  config,
  signup,
  login,
  logout,
  deleteAccount,
  whoami,
  watch,
  devices,
  key,
  tokens,
  notify,
  deliveries,
  channels,
  preferences,
  webhook,
  policy,
  reseal,
  doctor,
  account,
  invite,
  audit,
];

const FIRST_STEPS = `
Environment:
  GATEHOUSE_SERVER  server to use without --server
  GATEHOUSE_TOKEN   token of a session, used in place of the stored login and never stored

Examples:
  $ gatehouse serve
  $ gatehouse signup --server http://127.0.0.1:3000
  $ gatehouse tokens add my-push-token
  $ gatehouse watch --json
`;

/** The environment of a run; the command sets `exitCode`. */
export interface Shell {
  readonly environment: CliContext['environment'];
  readonly streams: Streams;
  exitCode: number;
}

/** The command line with all commands registered. */
export function buildProgram(shell: Shell): Command {
  const program = new Command('gatehouse')
    .description('Runs a Gatehouse server, and uses one from the command line.')
    .version(readVersion(), '-V, --version', 'print the version')
    .option('--json', 'print one JSON object a line, errors too (on standard error)')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void shell.streams.out.write(text),
      writeErr: (text) => void shell.streams.error.write(text),
      // main.ts prints the failure, as JSON with --json.
      outputError: () => undefined,
    })
    .exitOverride((error) => refuse(error, program))
    .addHelpText('after', `${EXIT_HELP}${FIRST_STEPS}`);
  [...COMMANDS, completionOf(program)].forEach((spec) => register(program, spec, shell));
  return program;
}

function register(parent: Command, spec: CommandSpec | CommandGroup, shell: Shell): void {
  const command = parent.command(spec.name).description(spec.description);
  command.exitOverride((error) => refuse(error, command));
  if (spec.help !== undefined) {
    command.addHelpText('after', spec.help);
  }
  if ('commands' in spec) {
    spec.commands.forEach((one) => register(command, one, shell));
    return;
  }
  spec.args?.forEach((argument) => command.addArgument(toArgument(argument)));
  spec.options?.forEach((option) => command.addOption(toOption(option)));
  if (spec.examples !== undefined) {
    const lines = spec.examples.map((line) => `  $ ${line}`);
    command.addHelpText('after', `\nExamples:\n${lines.join('\n')}\n`);
  }
  command.action(() => run(command, spec, shell));
}

/** @throws CommanderError where help or the version was printed, else CliError (usage) */
function refuse(error: CommanderError, command: Command): never {
  if (error.exitCode === 0 || error.code === 'commander.help') {
    throw error;
  }
  throw usageError(error.message.replace(/^error: /, ''), helpHint(command));
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
  /** Of the commands with a list. */
  readonly fields?: readonly string[];
}

async function run(command: Command, spec: CommandSpec, shell: Shell): Promise<void> {
  const options = command.optsWithGlobals<CommonOptions>();
  const output = new Output(shell.streams, options.json === true, options.fields);
  const { environment } = shell;
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
