import { READS_SECRET, SECRET_ARGUMENTS, SECRET_FILE } from './secret-arguments.js';

/** The place of a secret in a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Quotes within quotes are read so deep. */
const MOST_DEPTH = 3;

/** A blank or continued line, an operator, or a part of a word. */
const PART =
  /(?<blank>\\\n|[ \t\r]+)|(?<operator>\|\|?|&&?|;|\n|\$\(|[()`]|<<<|[<>]{1,2}&?)|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|'[^']*'|\\.|[^\s"'\\|&;()<>`$]+|[\s\S]/g;

/** Returns a text of the same length, whose only blanks and operators are those between words. */
function commandsIn(text: string): string {
  return text.replaceAll(PART, (part: string, ...rest: readonly unknown[]) => {
    const { blank, operator } = rest.at(-1) as Partial<Record<string, string>>;
    if (blank !== undefined) {
      return ' '.repeat(part.length);
    }
    return operator?.replace('$', ';') ?? part.replaceAll(/[\s|&;()<>`]/g, '\0');
  });
}

const WORD = '[^\\s|&;()<>`]+';
const WORDS = new RegExp(WORD, 'g');
/** So many words after a program may belong to it, which bounds the work for any text. */
const ARGUMENTS = new RegExp(`(?: +${WORD}){0,60}`, 'y');
const NO_FLAG = '["\']?[^-\\s]\\S*';

interface Way {
  /** The words from the program on. */
  readonly path: RegExp;
  /** The word, or the end of one, that comes next. */
  readonly next: RegExp;
  /** True if each match is a secret, not the first alone. */
  readonly isEach: boolean;
  /** The secret within the word, without quotes. */
  readonly secret: RegExp;
}

function nextOf(step: string): string {
  if (step.startsWith('*')) {
    return `(?=${step.slice(1)})(?<word>${step === '*' ? NO_FLAG : '\\S+'})`;
  }
  if (step === '$') {
    return `(?<word>${NO_FLAG})(?=(?: +-\\S*)*$)`;
  }
  if (step === '=') {
    return '["\']?[\\w.:/-]+=(?!@)(?<word>\\S+)';
  }
  const flags = step.split('|').map((flag) => {
    if (flag.endsWith('!')) {
      return `${flag.slice(0, -1)}=?`;
    }
    // Other flags take their value after a blank or a sign.
    return /^-\w$/.test(flag) ? `${flag}(?:=| +(?!-))?` : `${flag}(?:[=:]| +(?!-))`;
  });
  return `["']?(?:${flags.join('|')})(?<word>\\S+)`;
}

const WAYS = new Map<string, Way[]>();
for (const [programs, way, before] of SECRET_ARGUMENTS) {
  const steps = way.split(' ');
  const last = steps.pop() ?? '';
  const path = steps.map((step) => {
    const word = step === '_' ? NO_FLAG : `["']?(?:${step})["']?`;
    return `(?: +\\S+)*? +${word}(?= |$)`;
  });
  const found = {
    path: new RegExp(`^${path.join('')}`),
    next: new RegExp(` +${nextOf(last)}`, 'g'),
    isEach: /^[-/=]/.test(last),
    secret: secretIn(before),
  };
  for (const program of programs.split(' ')) {
    WAYS.set(program, [...(WAYS.get(program) ?? []), found]);
  }
}

/** A quote may also begin after a flag or a sign: `--from-literal=pin="secret"`. */
function secretIn(before?: string): RegExp {
  const start = before === undefined ? '' : `.*?(?:${before})["']?`;
  return new RegExp(`^["']?${start}(?<secret>.+?)["']?$`, 'ds');
}

const ANY = secretIn();

/** Returns the secret in a word; none if the word has another form. */
function within(text: string, from: number, to: number, form = ANY): Span[] {
  const [start, end] = form.exec(text.slice(from, to))?.indices?.groups?.['secret'] ?? [];
  return start === undefined || end === undefined ? [] : [{ from: from + start, to: from + end }];
}

/** Returns the secrets to which the ways of a program lead. @param at the end of the program */
function secretsOf(program: string, at: number, commands: string, text: string): Span[] {
  const name = /([^/\\"']+?)(?:\.exe)?["']?$/.exec(program.slice(-60))?.[1] ?? '';
  const ways = WAYS.get(name) ?? [];
  ARGUMENTS.lastIndex = at;
  const words = ways.length === 0 ? '' : (ARGUMENTS.exec(commands)?.[0] ?? '');
  return ways.flatMap(({ path, next, isEach, secret }) => {
    const start = path.exec(words)?.[0].length;
    const found = start === undefined ? [] : [...words.slice(start).matchAll(next)];
    return found.slice(0, isEach ? found.length : 1).flatMap(({ 0: whole, index, groups }) => {
      const to = at + (start ?? 0) + index + whole.length;
      return within(text, to - (groups?.['word'] ?? '').length, to, secret);
    });
  });
}

const REST = '[^|&;()<>`\\n]';
const FED = new RegExp(
  `(?<![\\w-])(?:echo|printf|yes)(?: +${WORD}){0,60}? +(?<said>${WORD}) *(?:\\|(?<reader>${REST}*)|>{1,2} *(?<file>${WORD}))|<<< *(?<given>${WORD})`,
  'dg',
);

/** Returns what is fed to commands that read a secret, or written to files of secrets. */
function fed(commands: string, text: string): Span[] {
  return [...commands.matchAll(FED)].flatMap(({ index, groups = {}, indices }) => {
    const { given, reader, file = '' } = groups;
    const line = commands.slice(Math.max(0, index - 2_000), index);
    const reads = given === undefined ? reader : line.slice(line.search(`${REST}*$`));
    const [from, to] = indices?.groups?.[given === undefined ? 'said' : 'given'] ?? [0, 0];
    return READS_SECRET.test(reads ?? '') || SECRET_FILE.test(file) ? within(text, from, to) : [];
  });
}

/** Returns the secrets that the commands of a text take as arguments, and those fed to them. */
export function commandSecrets(text: string, depth = 0): Span[] {
  const commands = commandsIn(text);
  return [
    ...fed(commands, text),
    ...[...commands.matchAll(WORDS)].flatMap(({ 0: word, index }) => [
      ...secretsOf(word, index + word.length, commands, text),
      ...nested(text.slice(index, index + word.length), index, depth),
    ]),
  ];
}

/** Quoted words are read again: `bash -c '…'`. */
function nested(word: string, from: number, depth: number): Span[] {
  const quote = word.search(/["']/);
  if (depth >= MOST_DEPTH || quote === -1 || !/\s/.test(word)) {
    return [];
  }
  const inner = word.slice(quote + 1, -1).replaceAll('\\"', ' "');
  const offset = from + quote + 1;
  return commandSecrets(inner, depth + 1).map((one) => ({
    from: one.from + offset,
    to: one.to + offset,
  }));
}
