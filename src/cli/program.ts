import { Command } from 'commander';
import { readVersion } from '../config/version.js';
import type { CliContext, CliOptions, LoadCommand } from './context.js';
import { addNotificationCommands } from './notification-commands.js';
import { addOperatorCommands } from './operator-commands.js';
import { EXIT_HELP } from './exit-codes.js';
import { Output, type Streams } from './output.js';
import { examples } from './examples.js';

/** What the commands are run in; `exitCode` is theirs to set. */
export interface Shell {
  readonly environment: CliContext['environment'];
  readonly streams: Streams;
  exitCode: number;
}

const SERVER_OPTION = '--server <url>';
const SERVER_HELP = 'server to use (default: $GATEHOUSE_SERVER, else the last login)';

/** The command line: names, options and help. What a command does is in its own module. */
export function buildProgram(shell: Shell): Command {
  const program = new Command('gatehouse')
    .description('Runs a Gatehouse server, and uses one from the command line.')
    .version(readVersion(), '-V, --version', 'print the version')
    .option('--json', 'print one JSON object a line, errors too (on standard error)')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void shell.streams.out.write(text),
      writeErr: (text) => void shell.streams.error.write(text),
      // The one reporter of failures says it, in JSON where that was asked for.
      outputError: () => undefined,
    })
    .exitOverride()
    .addHelpText('after', `${EXIT_HELP}${FIRST_STEPS}`);
  addServerCommands(program, shell);
  addConfigCommands(program, shell);
  addAccountCommands(program, shell);
  addKeyCommands(program, shell);
  addTokenCommands(program, shell);
  addNotificationCommands(program, (load) => run(shell, load));
  addOperatorCommands(program, (load) => run(shell, load));
  return program;
}

const FIRST_STEPS = `
Examples:
  $ gatehouse serve
  $ gatehouse login --server http://127.0.0.1:3000
  $ gatehouse tokens add my-push-token
  $ gatehouse watch --json
`;

function addServerCommands(program: Command, shell: Shell): void {
  program
    .command('serve')
    .description('run the server in this terminal')
    .addHelpText(
      'after',
      `
Configured by environment variables: docs/configuration.md explains each,
config/env.example lists them. Without DATABASE_URL an embedded database is
used, in SERVICE_DATA_DIR. Check your variables with: gatehouse config check

Examples:
  $ gatehouse serve
  $ PORT=8080 SERVICE_DATA_DIR=/var/lib/gatehouse gatehouse serve
`,
    )
    .action(run(shell, async () => (await import('./commands/serve.command.js')).run));
  program
    .command('migrate')
    .description("bring the database of DATABASE_URL to this version's schema")
    .option('--check', 'run nothing; exit with 3 when migrations are pending')
    .option('--plan', 'run nothing; print what would run')
    .addHelpText('after', examples('gatehouse migrate', 'gatehouse migrate --check'))
    .action(run(shell, async () => (await import('./commands/migrate.command.js')).run));
}

function addConfigCommands(program: Command, shell: Shell): void {
  const config = program.command('config').description('check or print the configuration');
  // Not --env-file: Node 20 takes that for itself, also behind the script's name.
  const file = ['--file <file>', "read the variables of this file, and not this shell's"] as const;
  config
    .command('check')
    .description('say everything that is wrong, and what the policy means in words')
    .option(...file)
    .addHelpText(
      'after',
      examples('gatehouse config check', 'gatehouse config check --file production.env'),
    )
    .action(run(shell, async () => (await import('./commands/config-check.command.js')).run));
  config
    .command('print')
    .description('print the value of every variable and where it comes from, without secrets')
    .option(...file)
    .addHelpText('after', examples('gatehouse config print', 'gatehouse config print --json'))
    .action(run(shell, async () => (await import('./commands/config-print.command.js')).run));
}

function addAccountCommands(program: Command, shell: Shell): void {
  program
    .command('login')
    .description("log in with this user's device key, making key and account where there are none")
    .option(SERVER_OPTION, SERVER_HELP)
    .option('--provider <id>', 'show who you are at this identity provider, in a browser')
    .option('--keyless', 'with --provider: log in to an account without a device key')
    .option('--certificate <file>', 'show this client certificate (PEM), with --key')
    .option('--key <file>', 'key of the certificate (PEM)')
    .option('--certificate-url <url>', 'where certificates are asked for, if not at --server')
    .option('--ca <file>', "authority of that address's own certificate, if it is a private one")
    .option('--no-browser', 'print the address only, for a browser that you open yourself')
    .addHelpText(
      'after',
      `
Key and session are kept in $XDG_CONFIG_HOME/gatehouse (default ~/.config/gatehouse),
readable by you alone. Back up the key (gatehouse key show): whoever has it has the account.
${examples('gatehouse login --server https://gate.example.org', 'gatehouse login --provider okta', 'gatehouse login --certificate cert.pem --key key.pem')}`,
    )
    .action(run(shell, async () => (await import('./commands/login.command.js')).run));
  program
    .command('logout')
    .description('revoke the session; the device key stays, so that you can log in again')
    .option(SERVER_OPTION, SERVER_HELP)
    .option('--everywhere', "revoke the account's sessions on all devices")
    .addHelpText('after', examples('gatehouse logout', 'gatehouse logout --everywhere'))
    .action(run(shell, async () => (await import('./commands/logout.command.js')).run));
  program
    .command('whoami')
    .description('show the account')
    .option(SERVER_OPTION, SERVER_HELP)
    .addHelpText('after', examples('gatehouse whoami', 'gatehouse whoami --json'))
    .action(run(shell, async () => (await import('./commands/whoami.command.js')).run));
  program
    .command('watch')
    .description("print the account's live updates until Ctrl-C, connecting again when needed")
    .option(SERVER_OPTION, SERVER_HELP)
    .addHelpText('after', examples('gatehouse watch', 'gatehouse watch --json'))
    .action(run(shell, async () => (await import('./commands/watch.command.js')).run));
}

function addKeyCommands(program: Command, shell: Shell): void {
  const key = program
    .command('key')
    .description("back up this user's device key, or bring one back: the key is the account");
  const load = () => import('./commands/key.command.js');
  key
    .command('show')
    .description('print its secret, the 43 characters that the account page takes too')
    .option(SERVER_OPTION, SERVER_HELP)
    .addHelpText(
      'after',
      examples('gatehouse key show', 'gatehouse key show | pass insert -m gate'),
    )
    .action(run(shell, async () => (await load()).show));
  key
    .command('restore')
    .description('read a secret from standard input and keep it, where there is no key yet')
    .option(SERVER_OPTION, SERVER_HELP)
    .addHelpText(
      'after',
      examples('pass gate | gatehouse key restore --server https://gate.example'),
    )
    .action(run(shell, async () => (await load()).restore));
}

function addTokenCommands(program: Command, shell: Shell): void {
  const tokens = program
    .command('tokens')
    .description("list, add or remove the account's push tokens");
  const load = () => import('./commands/tokens.command.js');
  tokens
    .command('list')
    .description('list them, newest first')
    .option(SERVER_OPTION, SERVER_HELP)
    .action(run(shell, async () => (await load()).list));
  tokens
    .command('add')
    .description('save a token')
    .argument('<token>', 'push token of a device')
    .option('--client-server-url <url>', 'address at which the app reaches this server')
    .option(SERVER_OPTION, SERVER_HELP)
    .addHelpText('after', examples('gatehouse tokens add my-push-token'))
    .action(run(shell, async () => (await load()).add));
  tokens
    .command('remove')
    .description('remove a token, known or not')
    .argument('<token>', 'push token of a device')
    .option(SERVER_OPTION, SERVER_HELP)
    .addHelpText('after', examples('gatehouse tokens remove my-push-token'))
    .action(run(shell, async () => (await load()).remove));
}

function run(shell: Shell, load: LoadCommand): (this: Command) => Promise<void> {
  return async function (this: Command): Promise<void> {
    const options = this.optsWithGlobals<CliOptions>();
    const output = new Output(shell.streams, options.json === true);
    const command = await load();
    const { environment } = shell;
    shell.exitCode = await command({ environment, options, args: this.args, output });
  };
}
