import { READS_SECRET, SECRET_ARGUMENTS, SECRET_FILE } from './secret-arguments.js';

/** The place of a secret in a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

interface Word extends Span {
  /** As written, with its quotes. */
  readonly raw: string;
}

/** The words between two operators, and the operator after them. */
interface Command {
  readonly words: Word[];
  operator: string;
}

/** So many words after a program may belong to it, which bounds the work for any text. */
const MOST_WORDS = 60;
/** Quotes within quotes are read so deep. */
const MOST_DEPTH = 3;

/** A blank or continued line, an operator, or a part of a word. */
const PART =
  /(?<blank>\\\n|[ \t\r]+)|(?<operator>\|\|?|&&?|;|\n|\$\(|[()`]|<<<|[<>]{1,2}&?)|"[^"\\]*(?:\\[\s\S][^"\\]*)*"|'[^']*'|\\.|[^\s"'\\|&;()<>`$]+|[\s\S]/g;

function commandsOf(text: string): Command[] {
  const commands: Command[] = [{ words: [], operator: '' }];
  let isNew = true;
  for (const { 0: part, index, groups = {} } of text.matchAll(PART)) {
    const command = commands.at(-1) as Command;
    const { words } = command;
    const to = index + part.length;
    if (groups['blank'] !== undefined) {
      isNew = true;
    } else if (groups['operator'] !== undefined) {
      command.operator = part;
      commands.push({ words: [], operator: '' });
      isNew = true;
    } else {
      const last = isNew ? undefined : words.pop();
      const from = last?.from ?? index;
      words.push({ from, to, raw: text.slice(from, to) });
      isNew = false;
    }
  }
  return commands;
}

interface Step {
  readonly kind: 'flag' | 'word' | 'secret' | 'last' | 'pairs';
  readonly pattern: RegExp;
}

interface Way {
  readonly steps: readonly Step[];
  readonly before: RegExp | null;
}

const NO_FLAG = /^["']?[^-]/;

function stepOf(text: string): Step {
  if (text.startsWith('*')) {
    return { kind: 'secret', pattern: text === '*' ? NO_FLAG : new RegExp(text.slice(1)) };
  }
  if (text === '_' || text === '$') {
    return { kind: text === '_' ? 'word' : 'last', pattern: NO_FLAG };
  }
  if (text === '=') {
    return { kind: 'pairs', pattern: /^["']?[\w.:/-]+=(?!@)/ };
  }
  if (!/^[-/](?!\()/.test(text)) {
    return { kind: 'word', pattern: new RegExp(`^["']?(?:${text})["']?$`) };
  }
  const flags = text.split('|').map((flag) => {
    const [, name = '', only] = /^(.+?)(!?)$/.exec(flag) ?? [];
    // Other flags take their value after a blank or a sign.
    const attached = only === '!' || /^-\w$/.test(name) ? '=?' : '[=:]';
    return `${name}(?:${attached}(?=.)${only === '!' ? '' : '|$'})`;
  });
  return { kind: 'flag', pattern: new RegExp(`^["']?(?:${flags.join('|')})`) };
}

const WAYS = new Map<string, Way[]>();
for (const [programs, way, before] of SECRET_ARGUMENTS) {
  const found = {
    steps: way.split(' ').map(stepOf),
    before: before === undefined ? null : new RegExp(`^.*?(?:${before})`, 's'),
  };
  for (const program of programs.split(' ')) {
    WAYS.set(program, [...(WAYS.get(program) ?? []), found]);
  }
}

/** Returns the part of a word from a place on and after a pattern, without its quotes; or nothing. */
function valueOf({ raw, from, to }: Word, start: number, before?: RegExp | null): Span[] {
  const quote = /["']/.exec(raw[0] ?? '')?.[0] ?? /["']/.exec(raw[start] ?? '')?.[0];
  const end =
    quote !== undefined && raw.length > 1 && raw.endsWith(quote) ? raw.length - 1 : raw.length;
  const found = before ? before.exec(raw.slice(start, end)) : [''];
  if (found === null) {
    return [];
  }
  const begin = start + (found[0] ?? '').length;
  // A quote may also begin after a flag or a sign: `--from-literal=pin="secret"`.
  const inner = /^["']/.exec(raw.slice(begin))?.[0] ?? '';
  const last = inner !== '' && end === raw.length && raw.endsWith(inner) ? end - 1 : end;
  const value = { from: from + begin + inner.length, to: Math.min(to, from + last) };
  return value.from < value.to ? [value] : [];
}

/** Returns the secrets to which a way leads from a program. */
function follow({ steps, before }: Way, words: readonly Word[], program: number): Span[] {
  let rest = words.slice(program + 1, program + MOST_WORDS);
  for (const { pattern } of steps.slice(0, -1)) {
    const at = rest.findIndex(({ raw }) => pattern.test(raw));
    if (at === -1) {
      return [];
    }
    rest = rest.slice(at + 1);
  }
  const { kind, pattern } = steps.at(-1) as Step;
  const found = rest.flatMap((word, index) => {
    const length = pattern.exec(word.raw)?.[0].length;
    return length === undefined ? [] : [{ word, length, next: rest[index + 1] }];
  });
  if (kind === 'pairs') {
    return found.flatMap(({ word, length }) => valueOf(word, length));
  }
  if (kind === 'flag') {
    return found.flatMap(({ word, length, next }) => {
      const isAttached = length < word.raw.replace(/["']$/, '').length;
      const hasNext = next !== undefined && NO_FLAG.test(next.raw);
      if (isAttached) {
        return valueOf(word, length, before);
      }
      return hasNext ? valueOf(next, 0, before) : [];
    });
  }
  const one = kind === 'last' ? found.at(-1) : found[0];
  return one === undefined ? [] : valueOf(one.word, 0, before);
}

const nameOf = ({ raw }: Word): string =>
  /([^/\\"']+?)(?:\.exe)?["']?$/.exec(raw.slice(-60))?.[1] ?? '';

/** Returns what `echo` feeds to a command that reads a secret, or writes to a file of secrets. */
function fed(commands: readonly Command[], index: number): Span[] {
  const { words, operator } = commands[index] as Command;
  const next = commands[index + 1]?.words.slice(0, MOST_WORDS) ?? [];
  const reads = (some: readonly Word[]): boolean =>
    READS_SECRET.test(some.map(({ raw }) => raw).join(' '));
  const isEcho = words.some((word) => /^(?:echo|printf|yes)$/.test(nameOf(word)));
  const isFile = operator.startsWith('>') && SECRET_FILE.test(next[0]?.raw ?? '');
  let secret: Word | undefined;
  if (operator === '<<<' && reads(words.slice(-MOST_WORDS))) {
    secret = next[0];
  } else if (isEcho && words.length > 1 && (isFile || (operator === '|' && reads(next)))) {
    secret = words.at(-1);
  }
  return secret === undefined ? [] : valueOf(secret, 0);
}

/** Returns the secrets that the commands of a text take as arguments, and those fed to them. */
export function commandSecrets(text: string, depth = 0): Span[] {
  const commands = commandsOf(text);
  return commands.flatMap(({ words }, index) => [
    ...fed(commands, index),
    ...words.flatMap((word, at) => [
      ...(WAYS.get(nameOf(word)) ?? []).flatMap((way) => follow(way, words, at)),
      ...nested(word, depth),
    ]),
  ]);
}

/** Quoted words are read again: `bash -c '…'`. */
function nested({ raw, from }: Word, depth: number): Span[] {
  const quote = raw.search(/["']/);
  if (depth >= MOST_DEPTH || quote === -1 || !/\s/.test(raw)) {
    return [];
  }
  const inner = raw.slice(quote + 1, -1).replaceAll('\\"', ' "');
  const offset = from + quote + 1;
  return commandSecrets(inner, depth + 1).map((one) => ({
    from: one.from + offset,
    to: one.to + offset,
  }));
}
