import type { Command } from 'commander';
import type { LoadCommand } from './context.js';
import { wholeNumber } from './option-values.js';

type Run = (load: LoadCommand) => (this: Command) => Promise<void>;

const WITH_DATABASE = `
Works on the database of DATABASE_URL, with the same variables as the server.
`;

const REASON = ['--reason <text>', 'why; kept in the audit trail'] as const;
const ACTOR = [
  '--actor <name>',
  "who; kept in the audit trail (default: this system's user)",
] as const;

/** What an administrator asks and does, with the server's own variables. */
export function addOperatorCommands(program: Command, run: Run): void {
  addPolicyCommands(program, run);
  addResealCommand(program, run);
  addDoctorCommand(program, run);
  const account = program
    .command('account')
    .description('list, disable, enable, revoke or re-check accounts of this server')
    .addHelpText('after', WITH_DATABASE);
  const load = () => import('./commands/account.command.js');
  account
    .command('list')
    .description('list accounts with their identities')
    .option('--limit <count>', 'at most so many (default 1000)', wholeNumber(1, 1_000_000_000))
    .action(run(async () => (await load()).list));
  const acts = [
    ['disable', 'keep an account out until it is enabled again'],
    ['enable', 'let a disabled account in again'],
    ['revoke', 'revoke all tokens of an account'],
    ['recheck', "ask the providers of an account's identities now"],
  ] as const;
  for (const [name, description] of acts) {
    account
      .command(name)
      .description(description)
      .argument('<id>', 'id of the account')
      .requiredOption(...REASON)
      .option(...ACTOR)
      .action(run(async () => (await load())[name]));
  }
  program
    .command('audit')
    .description('print what happened to accounts: sign-ups, refusals, links, checks, admin acts')
    .option('--since <time>', 'from then on: 30m, 24h, 7d or a date (default 24h)')
    .addHelpText('after', WITH_DATABASE)
    .action(run(async () => (await import('./commands/audit.command.js')).run));
}

function addResealCommand(program: Command, run: Run): void {
  program
    .command('reseal')
    .description('renew what was sealed with SERVICE_MASTER_SECRET_PREVIOUS')
    .addHelpText(
      'after',
      `
Works beside running servers, and can be ended and begun again at any time.
Docs: docs/upgrade.md, Rotating the master secret.
${WITH_DATABASE}`,
    )
    .action(run(async () => (await import('./commands/reseal.command.js')).run));
}

function addPolicyCommands(program: Command, run: Run): void {
  const policy = program
    .command('policy')
    .description('explain and plan who may stay')
    .addHelpText('after', WITH_DATABASE);
  const load = () => import('./commands/policy.command.js');
  policy
    .command('explain')
    .description('say of one account what each rule is, what it saw and when')
    .argument('<account>', 'id of the account')
    .action(run(async () => (await load()).explain));
  policy
    .command('plan')
    .description('say how many accounts would lose access under changed variables')
    // Not --env-file: Node 20 takes that for itself, also behind the script's name.
    .requiredOption('--file <file>', 'the changed variables')
    .action(run(async () => (await load()).plan));
}

function addDoctorCommand(program: Command, run: Run): void {
  program
    .command('doctor')
    .description('try from outside what must not work')
    .command('mtls')
    .description('send forged certificate headers in every spelling, and say whether one counted')
    .requiredOption('--public-url <url>', 'address of the server that clients use')
    .option('--connect-to <address>', 'connect there, whatever the name resolves to')
    .addHelpText(
      'after',
      `
Makes no account and needs no login. Run it from where clients are, for each
address at which the server is reached. Exits with 1 when a forgery counted.

Examples:
  $ gatehouse doctor mtls --public-url https://gate.example.org
`,
    )
    .action(run(async () => (await import('./commands/doctor-mtls.command.js')).run));
}
