import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The words that a shell offers for each line when Tab is pressed, beside a file settings.json. */
export type Complete = (
  script: string,
  lines: readonly string[],
) => ReadonlyMap<string, readonly string[]>;

/** Whether the machine has a shell; where it must (CI), its absence is an error. */
export function hasShell(shell: 'zsh' | 'fish'): boolean {
  const isThere = spawnSync(shell, ['--version']).status === 0;
  if (!isThere && process.env['CI'] === 'true') {
    throw new Error(`These tests need ${shell}. On Debian: apt-get install ${shell}`);
  }
  return isThere;
}

/** In fish, which completes a line on request. */
export const completeInFish: Complete = (script, lines) =>
  inDirectory((directory) => {
    writeFileSync(join(directory, 'gatehouse.fish'), script);
    const offered = lines.map((line) => `echo '## ${line}'; complete -C '${line}'`);
    const program = ['source gatehouse.fish', ...offered].join('\n');
    const options = { cwd: directory, encoding: 'utf8', env: environmentIn(directory) } as const;
    return offersIn(execFileSync('fish', ['--no-config', '-c', program], options));
  });

/** In an interactive zsh on a terminal of its own, with the script on $fpath as `_gatehouse`. */
export const completeInZsh: Complete = (script, lines) =>
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

/** Completion as users have it, with each word that is added written down. */
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
  try {
    writeFileSync(join(directory, 'settings.json'), '{}');
    return use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
