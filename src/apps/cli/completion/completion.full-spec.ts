import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { execFileSync, spawnSync } from 'node:child_process';
import type { Command } from 'commander';
import { buildProgram } from '../program.js';
import { completionScript } from './completion-script.js';

/** The words that a shell offers for each line when Tab is pressed, in a directory with settings.json. */
type Complete = (
  script: string,
  lines: readonly string[],
) => ReadonlyMap<string, readonly string[]>;

/** Returns true if the shell is installed. In CI its absence is an error. */
function hasShell(shell: keyof typeof shells): boolean {
  const isThere = spawnSync(shell, ['--version']).status === 0;
  if (!isThere && process.env['CI'] === 'true') {
    throw new Error(`These tests need ${shell}. On Debian: apt-get install ${shell}`);
  }
  return isThere;
}

/** Calls the function as Readline does, which then completes to files where it returned nothing. */
const completeInBash: Complete = (script, lines) =>
  inDirectory((directory) => {
    const offered = lines.map((line) => {
      // Readline makes a word of each =.
      const words = `${line.replaceAll('=', ' = ')}${line.endsWith(' ') ? '""' : ''}`;
      return `echo '## ${line}'; complete_words ${words}`;
    });
    const program = [script, BASH_AROUND, ...offered].join('\n');
    const shell = ['--norc', '--noprofile', '-euc', program];
    const options = { cwd: directory, encoding: 'utf8', env: environmentIn(directory) } as const;
    return offersIn(execFileSync('bash', shell, options));
  });

const BASH_AROUND = `
[[ $(complete -p gatehouse) == 'complete -o default -F _gatehouse gatehouse' ]]
complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  _gatehouse
  if [[ \${#COMPREPLY[@]} == 0 ]]; then
    COMPREPLY=($(compgen -f -- "\${!#}"))
  fi
  printf '%s\\n' "\${COMPREPLY[@]}"
}
`;

const completeInFish: Complete = (script, lines) =>
  inDirectory((directory) => {
    writeFileSync(join(directory, 'gatehouse.fish'), script);
    const offered = lines.map((line) => `echo '## ${line}'; complete -C '${line}'`);
    const program = ['source gatehouse.fish', ...offered].join('\n');
    const options = { cwd: directory, encoding: 'utf8', env: environmentIn(directory) } as const;
    return offersIn(execFileSync('fish', ['--no-config', '-c', program], options));
  });

/** Completes in an interactive zsh on a terminal, with the script on $fpath as `_gatehouse`. */
const completeInZsh: Complete = (script, lines) =>
  inDirectory((directory) => {
    writeFileSync(join(directory, '_gatehouse'), script);
    writeFileSync(join(directory, 'lines'), lines.map((line) => `${line}\n`).join(''));
    writeFileSync(join(directory, 'inner.zsh'), ZSH_INSIDE);
    const options = { cwd: directory, encoding: 'utf8', env: environmentIn(directory) } as const;
    execFileSync('zsh', ['-fc', ZSH_OUTSIDE], options);
    return offersIn(readFileSync(join(directory, 'offered'), 'utf8'));
  });

/** Starts the interactive shell, and presses the key of the widget that completes all lines. */
const ZSH_OUTSIDE = `
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner 'source ./inner.zsh'
zpty -r inner seen '*READY<*'
zpty -w -n inner $'\\C-t'
zpty -r inner seen '*DONE<*'
zpty -d inner
`;

/** A widget that completes as users do, and records each added word. */
const ZSH_INSIDE = `
fpath=($PWD $fpath)
autoload -Uz compinit
compinit -D -u
zle -C matches list-choices _generic
compadd() {
  local -a hits
  # With these options it adds no word.
  if [[ \${@[1,(i)(-|--)]} != *-(A|D|O)\\ * ]]; then
    builtin compadd -A hits "$@"
    print -rl -- $hits >> offered
  fi
  builtin compadd "$@"
}
complete-lines() {
  local line
  while IFS= read -r line; do
    BUFFER=$line CURSOR=\${#line}
    print -r -- "## $line" >> offered
    zle matches
  done < lines
  BUFFER=
  print 'DO''NE<'
}
zle -N complete-lines
bindkey '^T' complete-lines
print 'REA''DY<'
`;

function offersIn(text: string): ReadonlyMap<string, readonly string[]> {
  const parts = text.split(/^## /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [line = '', ...words] = part.split('\n');
      // Fish adds the description of a word.
      return [
        line,
        words
          .map((word) => word.replace(/\t.*$/, ''))
          .filter(Boolean)
          .sort(),
      ];
    }),
  );
}

function environmentIn(directory: string): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: directory, TERM: 'dumb', LANG: 'C.UTF-8' };
}

function inDirectory<T>(use: (directory: string) => T): T {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-completion-'));
  writeFileSync(join(directory, 'settings.json'), '{}');
  return use(directory);
}

const silent = { write: () => true };
const program = buildProgram({
  environment: {},
  streams: { out: silent, error: silent },
  exitCode: 0,
});
const namesIn = (command: Command) => command.commands.map((one) => one.name());

const OPTIONS_OF_ADD = ['--client-server-url', '--help', '--json', '--name', '--server'];
const STATES = ['dropped', 'failed', 'sent', 'waiting'];
const groups = program.commands.filter((one) => one.commands.length > 0);

/** Lines, and the completions at the end of each. */
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
/** The result has the value after a =, too, which fish offers with its option. */
const AFTER_EQUALS: typeof LINES = [
  ['gatehouse deliveries list --state=', STATES],
  ['gatehouse deliveries list --state=f', ['failed']],
  ['gatehouse channels list --settings-file=se', ['settings.json']],
];

const shells = { bash: completeInBash, zsh: completeInZsh, fish: completeInFish } as const;
describe.each(['bash', 'zsh', 'fish'] as const)('completion in %s', (shell) => {
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

function valueOf(word: string): string {
  return word.replace(/^--[a-z-]+=/, '');
}
