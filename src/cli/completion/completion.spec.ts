import { execFileSync, spawnSync } from 'node:child_process';
import type { Command } from 'commander';
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

describe.each(['zsh', 'fish'] as const)('completion in %s', (shell) => {
  const script = completionScript(program, shell);

  it('names every command with its options', () => {
    for (const group of program.commands) {
      expect(script).toContain(`gatehouse/${group.name()}`);
      for (const { name } of group.commands.map((one) => ({ name: one.name() }))) {
        expect(script).toContain(`gatehouse/${group.name()}/${name}`);
      }
    }
    expect(script).toContain('waiting sent failed dropped');
    expect(script).toContain('client-server-url');
  });

  it('is valid for the shell, where it is installed', () => {
    const { status, error, stderr } = spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' });
    const isMissing = error !== undefined && 'code' in error && error.code === 'ENOENT';
    expect(isMissing || status === 0 ? '' : stderr).toBe('');
  });
});
