import type { Command, Option } from 'commander';

type Shell = 'bash' | 'zsh' | 'fish';

/** Completions after the words of one command. */
interface Place {
  /** The preceding words, joined: `gatehouse/tokens/add`. */
  readonly path: string;
  /** Subcommands and choices of an argument, then options. */
  readonly words: readonly Word[];
  readonly options: readonly Word[];
  /** Paths of options that take a value, with their choices, if any: `…/--state`. */
  readonly values: readonly { readonly path: string; readonly choices: readonly string[] }[];
}

interface Word {
  readonly text: string;
  readonly description: string;
}

/** A script that completes subcommands, options and choices; other values complete to files. */
export function completionScript(program: Command, shell: Shell): string {
  return WRITERS[shell](placesOf(program, program.name()));
}

function placesOf(command: Command, path: string): Place[] {
  const { options } = command;
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const place = {
    path,
    words: [
      ...command.commands.map((one) => ({ text: one.name(), description: one.description() })),
      ...choices.map((text) => ({ text, description: '' })),
    ],
    options: [...options.flatMap(wordOf), { text: '--help', description: 'show help' }],
    values: options
      .filter((option) => option.required || option.optional)
      .map(({ long, argChoices = [] }) => ({ path: `${path}/${long}`, choices: argChoices })),
  };
  const below = command.commands.flatMap((one) => placesOf(one, `${path}/${one.name()}`));
  return [place, ...below];
}

function wordOf({ long, description }: Option): Word[] {
  return typeof long === 'string' ? [{ text: long, description }] : [];
}

const WRITERS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Works with bash 3.2, the version of macOS, and later, without other packages. */
function bashScript(places: readonly Place[]): string {
  return `# bash completion of gatehouse
_gatehouse() {
  local at=gatehouse skip='' word i
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  # The = of --option=value is a word of its own.
  [[ $prev == = ]] && prev="\${COMP_WORDS[COMP_CWORD-2]}"
  [[ $cur == = ]] && cur=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ $word == = ]]; then continue; fi
    if [[ -n $skip ]]; then skip=''; continue; fi
${walk(places)}
  done
  COMPREPLY=()
  case "$at/$prev" in
${valueCases(places, (words) => `COMPREPLY=($(compgen -W '${words}' -- "$cur"))`)}
  esac
  case "$at" in
${places
  .map(({ path, words, options }) => {
    const [first, second] = [textsOf(words), textsOf(options)];
    return `    ${path}) if [[ $cur == -* ]]; then word='${second}'; else word='${first}'; fi ;;`;
  })
  .join('\n')}
  esac
  COMPREPLY=($(compgen -W "$word" -- "$cur"))
}
complete -o default -F _gatehouse gatehouse
`;
}

function zshScript(places: readonly Place[]): string {
  return `#compdef gatehouse
# zsh completion of gatehouse
_gatehouse() {
  local at=gatehouse skip='' word i
  local prev="\${words[CURRENT-1]}"
  local -a found
  # In --option=value the option is a prefix, and the value is completed.
  if [[ \${words[CURRENT]} == --*=* ]]; then
    prev="\${words[CURRENT]%%=*}"
    compset -P '*='
  fi
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ -n $skip ]]; then skip=''; continue; fi
${walk(places)}
  done
  case "$at/$prev" in
${valueCases(places, (words) => `compadd -- ${words}`, '_files')}
  esac
  if [[ \${words[CURRENT]} == --*=* ]]; then return; fi
  case "$at" in
${places
  .map(({ path, words, options }) => {
    const list = (these: readonly Word[]) => these.map(described).join(' ');
    return `    ${path}) if [[ \${words[CURRENT]} == -* ]]; then found=(${list(options)}); else found=(${list(words)}); fi ;;`;
  })
  .join('\n')}
  esac
  if (( \${#found} )); then _describe gatehouse found; else _files; fi
}
if [[ \${funcstack[1]} == _gatehouse ]]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi
`;
}

function fishScript(places: readonly Place[]): string {
  const complete = places.flatMap(({ path, words, options, values }) => [
    ...words.map(({ text, description }) =>
      fishLine(path, `-f -a ${text}${fishDescription(description)}`),
    ),
    ...options.map(({ text, description }) => {
      const value = values.find((one) => one.path === `${path}/${text}`);
      const choices = value?.choices.length ? ` -f -a '${value.choices.join(' ')}'` : '';
      const required = value === undefined ? '' : ` -r${choices}`;
      return fishLine(path, `-l ${text.slice(2)}${required}${fishDescription(description)}`);
    }),
  ]);
  return `# fish completion of gatehouse
function __gatehouse_at
    set -l at gatehouse
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch "$at/$word"
            case ${places
              .slice(1)
              .map(({ path }) => path)
              .join(' ')}
                set at "$at/$word"
            case ${valuePaths(places).join(' ')}
                set skip 1
        end
    end
    test $at = $argv[1]
end
${complete.join('\n')}
`;
}

/** Generates the step for one word: into a subcommand, or over the value of an option. */
function walk(places: readonly Place[]): string {
  const paths = places.slice(1).map(({ path }) => path);
  return `    case "$at/$word" in
      ${paths.join('|')}) at="$at/$word" ;;
      ${valuePaths(places).join('|')}) skip=1 ;;
    esac`;
}

function valuePaths(places: readonly Place[]): string[] {
  return places.flatMap(({ values }) => values.map(({ path }) => path));
}

function valueCases(
  places: readonly Place[],
  offer: (words: string) => string,
  otherwise = ':',
): string {
  const values = places.flatMap((place) => place.values);
  const chosen = values.filter(({ choices }) => choices.length > 0);
  const free = values.filter(({ choices }) => choices.length === 0);
  return [
    ...chosen.map(({ path, choices }) => `    ${path}) ${offer(choices.join(' '))}; return ;;`),
    `    ${free.map(({ path }) => path).join('|')}) ${otherwise}; return ;;`,
  ].join('\n');
}

function textsOf(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}

function described({ text, description }: Word): string {
  const label = description === '' ? '' : `:${description.replaceAll(/[\\:]/g, '\\$&')}`;
  return `'${`${text}${label}`.replaceAll("'", `'\\''`)}'`;
}

function fishLine(path: string, rest: string): string {
  return `complete -c gatehouse -n '__gatehouse_at ${path}' ${rest}`;
}

function fishDescription(text: string): string {
  return text === '' ? '' : ` -d '${text.replaceAll(/[\\']/g, '\\$&')}'`;
}
