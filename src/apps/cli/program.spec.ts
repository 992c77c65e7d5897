import type { Command } from 'commander';
import { CliError } from './cli-error.js';
import { buildProgram } from './program.js';

const PROGRAM = buildProgram({
  environment: {},
  streams: { out: process.stdout, error: process.stderr },
  exitCode: 0,
});

/** Returns the command and all below it, with their names as they are typed. */
function pagesOf(command: Command, parent = ''): (readonly [string, Command])[] {
  const name = `${parent}${command.name()}`;
  return [[name, command], ...command.commands.flatMap((one) => pagesOf(one, `${name} `))];
}

function helpOf(command: Command): string {
  const written: string[] = [];
  command.configureOutput({ writeOut: (text) => void written.push(text) }).outputHelp();
  return written.join('');
}

describe(buildProgram, () => {
  it.each(pagesOf(PROGRAM))('shows an example of `%s`', (name, command) => {
    const [, examples = ''] = helpOf(command).split('\nExamples:\n');
    expect(examples).toMatch(new RegExp(`^  \\$ .*\\b${name}\\b`));
  });

  it.each(pagesOf(PROGRAM))('fits the help of `%s` to 80 columns', (_name, command) => {
    const [text = ''] = helpOf(command).split('\nExamples:\n');
    expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('lists commands without the options that each of them has', () => {
    const help = helpOf(PROGRAM);
    expect(help).toMatch(/^ {2}login {2,}sign in to your account with this user's device key$/m);
    expect(help).toMatch(/^ {2}channels \[command\] {2,}list, add and change/m);
    expect(help).toMatch(/^ {2}completion <shell> {2,}print/m);
  });

  it.each(['--version', '-V', '--json', '--help'])(
    'takes %s after an option as its text: an exit code of 0 would mean allowed',
    async (text) => {
      const args = ['ask', 'permission', '--tool', 'Bash', '--command', 'ls', '--title', text];
      expect(await failureOf(args)).toBe('not-logged-in');
    },
  );

  it.each(['--json notify ready', 'notify --json ready', 'notify ready --json'])(
    'takes --json in `%s`',
    async (words) => {
      const args = [...words.split(' '), '--session', 's1'];
      expect(await failureOf(args)).toBe('not-logged-in');
    },
  );
});

/** Runs a command of a user without a login. */
async function failureOf(args: readonly string[]): Promise<string> {
  const silent = { write: () => true };
  const program = buildProgram({
    environment: { XDG_CONFIG_HOME: '/nowhere' },
    streams: { out: silent, error: silent },
    exitCode: 0,
  });
  return program.parseAsync(args, { from: 'user' }).then(
    () => 'none',
    (error: unknown) => (error instanceof CliError ? error.facts.code : String(error)),
  );
}
