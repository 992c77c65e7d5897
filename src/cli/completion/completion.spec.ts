import { execFileSync } from 'node:child_process';
import type { Command } from 'commander';
import { completeInFish, completeInZsh, hasShell } from '../../../test/helpers/shell-completion.js';
import { buildProgram } from '../program.js';
import { completionScript } from './completion-script.js';

const silent = { write: () => true };
const program = buildProgram({
  environment: {},
  streams: { out: silent, error: silent },
  exitCode: 0,
});
const bash = completionScript(program, 'bash');

/** Runs bash with the script loaded. */
function inBash(commands: string, ...args: readonly string[]): string {
  const options = { input: bash, encoding: 'utf8' } as const;
  const load = 'eval "$(cat)"';
  return execFileSync(
    'bash',
    ['--norc', '--noprofile', '-euc', `${load}; ${commands}`, 'bash', ...args],
    options,
  );
}

/** What bash offers for the last of the words. */
function complete(...words: readonly string[]): string[] {
  const answer = inBash(
    'COMP_WORDS=(gatehouse "$@"); COMP_CWORD=$#; _gatehouse; printf "%s\\n" ${COMPREPLY[@]+"${COMPREPLY[@]}"}',
    ...words,
  );
  return answer.split('\n').filter((line) => line !== '');
}

const namesIn = (command: Command) => command.commands.map((one) => one.name());

describe('completion in bash', () => {
  it('is registered for gatehouse', () => {
    expect(inBash('complete -p gatehouse').trim()).toBe(
      'complete -o default -F _gatehouse gatehouse',
    );
  });

  it('offers every command, and the subcommands of each group', () => {
    expect(complete('')).toEqual(namesIn(program));
    expect(complete('tok')).toEqual(['tokens']);
    for (const group of program.commands.filter((one) => one.commands.length > 0)) {
      expect(complete(group.name(), '')).toEqual(namesIn(group));
    }
  });

  it('offers the options of a command, and those of all', () => {
    expect(complete('tokens', 'add', '--')).toEqual(
      expect.arrayContaining(['--name', '--client-server-url', '--server', '--json', '--help']),
    );
    expect(complete('tokens', 'add', '--')).not.toContain('--version');
    expect(complete('tokens', 'list', '--fi')).toEqual(['--fields']);
    expect(complete('--ver')).toEqual(['--version']);
  });

  it('offers the choices of options and arguments', () => {
    const states = ['waiting', 'sent', 'failed', 'dropped'];
    expect(complete('deliveries', 'list', '--state', '')).toEqual(states);
    expect(complete('deliveries', 'list', '--state', '=', 'f')).toEqual(['failed']);
    expect(complete('deliveries', 'list', '--state', '=')).toEqual(states);
    expect(complete('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  });

  it('leaves other values to file names, and does not take a value for a command', () => {
    expect(complete('channels', 'list', '--settings-file', '')).toEqual([]);
    expect(complete('devices', 'approve', '--server', 'tokens', '--y')).toEqual(['--yes']);
    expect(complete('tokens', '--json', 'a')).toEqual(['add']);
  });
});

const OPTIONS_OF_ADD = ['--client-server-url', '--help', '--json', '--name', '--server'];
const STATES = ['dropped', 'failed', 'sent', 'waiting'];
const groups = program.commands.filter((one) => one.commands.length > 0);

/** Lines, and what Tab offers at the end of each. */
const LINES: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['gatehouse ', namesIn(program).sort()],
  ...groups.map((group) => [`gatehouse ${group.name()} `, namesIn(group).sort()] as const),
  ['gatehouse tok', ['tokens']],
  ['gatehouse tokens --json a', ['add']],
  ['gatehouse --ver', ['--version']],
  ['gatehouse tokens add --', OPTIONS_OF_ADD],
  ['gatehouse tokens add --name "a b" --js', ['--json']],
  ['gatehouse tokens list --server=http://a --fi', ['--fields']],
  ['gatehouse devices approve --server tokens --y', ['--yes']],
  ['gatehouse deliveries list --state ', STATES],
  ['gatehouse deliveries list --state f', ['failed']],
  ['gatehouse deliveries list --state sent --fi', ['--fields']],
  ['gatehouse completion ', ['bash', 'fish', 'zsh']],
  ['gatehouse channels list --settings-file se', ['settings.json']],
];
/** The value after a = as well, which fish offers with its option. */
const AFTER_EQUALS: typeof LINES = [
  ['gatehouse deliveries list --state=', STATES],
  ['gatehouse deliveries list --state=f', ['failed']],
  ['gatehouse channels list --settings-file=se', ['settings.json']],
];

const shells = { zsh: completeInZsh, fish: completeInFish } as const;
describe.each(['zsh', 'fish'] as const)('completion in %s', (shell) => {
  const tried = hasShell(shell) ? it : it.skip;

  tried('offers commands, options, choices and files', () => {
    const lines = [...LINES, ...AFTER_EQUALS];
    const script = completionScript(program, shell);
    const offered = shells[shell](
      script,
      lines.map(([line]) => line),
    );
    const values = [...offered].map(([line, words]) => [line, words.map(valueOf)] as const);
    expect(new Map(values)).toEqual(new Map(lines));
  });
});

/** Without the option of `--option=value`. */
function valueOf(word: string): string {
  return word.replace(/^--[a-z-]+=/, '');
}
