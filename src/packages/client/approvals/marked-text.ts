/** A part of a text: as it is, or a mark in place of, or after, characters that deceive. */
export type Piece = string | { readonly mark: string };

/** The pieces of one line. */
export type MarkedLine = readonly Piece[];

/**
 * `command`: text that a program acts on, so every character outside of ASCII is marked. `prose`: text
 * that only people read, in any language; there, marks show what is invisible or reorders text.
 */
export type TextKind = 'command' | 'prose';

/** From this length on, blanks are counted: they can push text out of sight. */
const COUNTED_BLANKS = 4;
const COUNTED_EMPTY_LINES = 2;
/** Marks of one letter: more of them would be drawn over the lines above and below. */
const MAX_STACKED = 4;
const MAX_NAMED = 8;

/** Brackets of a mark; in a text they are marked themselves, so that no text can forge a mark. */
export const MARK_BRACKETS = ['\u27e8', '\u27e9'] as const;

/** Characters without a visible form, or that change how others are shown. */
const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}\p{M}\p{Default_Ignorable_Code_Point}\u2800\u3164\uffa0]/u;
const NEVER_PLAIN = new RegExp(`[${MARK_BRACKETS.join('')}]`, 'u');
/** The parts of letters and of emoji: prose cannot be written without them. */
const OF_PROSE = /\p{M}|\u200c|\u200d|\ufe0e|\ufe0f/u;

const NAMES: Readonly<Record<number, string>> = {
  0x00: 'NULL',
  0x07: 'BELL',
  0x08: 'BACKSPACE',
  0x09: 'TAB',
  0x0a: 'LINE FEED',
  0x0b: 'LINE TABULATION',
  0x0c: 'FORM FEED',
  0x0d: 'CARRIAGE RETURN',
  0x1b: 'ESCAPE',
  0x7f: 'DELETE',
  0x85: 'NEXT LINE',
  0xa0: 'NO-BREAK SPACE',
  0xad: 'SOFT HYPHEN',
  0x34f: 'COMBINING GRAPHEME JOINER',
  0x61c: 'ARABIC LETTER MARK',
  0x115f: 'HANGUL CHOSEONG FILLER',
  0x1160: 'HANGUL JUNGSEONG FILLER',
  0x180e: 'MONGOLIAN VOWEL SEPARATOR',
  0x2007: 'FIGURE SPACE',
  0x2009: 'THIN SPACE',
  0x200a: 'HAIR SPACE',
  0x200b: 'ZERO WIDTH SPACE',
  0x200c: 'ZERO WIDTH NON-JOINER',
  0x200d: 'ZERO WIDTH JOINER',
  0x200e: 'LEFT-TO-RIGHT MARK',
  0x200f: 'RIGHT-TO-LEFT MARK',
  0x2010: 'HYPHEN',
  0x2011: 'NON-BREAKING HYPHEN',
  0x2013: 'EN DASH',
  0x2014: 'EM DASH',
  0x2018: 'LEFT SINGLE QUOTATION MARK',
  0x2019: 'RIGHT SINGLE QUOTATION MARK',
  0x201c: 'LEFT DOUBLE QUOTATION MARK',
  0x201d: 'RIGHT DOUBLE QUOTATION MARK',
  0x2024: 'ONE DOT LEADER',
  0x2028: 'LINE SEPARATOR',
  0x2029: 'PARAGRAPH SEPARATOR',
  0x202a: 'LEFT-TO-RIGHT EMBEDDING',
  0x202b: 'RIGHT-TO-LEFT EMBEDDING',
  0x202c: 'POP DIRECTIONAL FORMATTING',
  0x202d: 'LEFT-TO-RIGHT OVERRIDE',
  0x202e: 'RIGHT-TO-LEFT OVERRIDE',
  0x202f: 'NARROW NO-BREAK SPACE',
  0x2044: 'FRACTION SLASH',
  0x205f: 'MEDIUM MATHEMATICAL SPACE',
  0x2060: 'WORD JOINER',
  0x2066: 'LEFT-TO-RIGHT ISOLATE',
  0x2067: 'RIGHT-TO-LEFT ISOLATE',
  0x2068: 'FIRST STRONG ISOLATE',
  0x2069: 'POP DIRECTIONAL ISOLATE',
  0x2212: 'MINUS SIGN',
  0x2215: 'DIVISION SLASH',
  0x2800: 'BRAILLE PATTERN BLANK',
  0x3000: 'IDEOGRAPHIC SPACE',
  0x3164: 'HANGUL FILLER',
  0x37e: 'GREEK QUESTION MARK',
  0xfeff: 'ZERO WIDTH NO-BREAK SPACE',
  0xffa0: 'HALFWIDTH HANGUL FILLER',
};

const SCRIPT_NAMES =
  'Latin Greek Cyrillic Armenian Hebrew Arabic Devanagari Thai Cherokee Han Hiragana Katakana Hangul';

const SCRIPTS: readonly (readonly [name: string, script: RegExp])[] = [
  ...SCRIPT_NAMES.split(' ').map((name) => [name, new RegExp(`\\p{Script=${name}}`, 'u')] as const),
  ['letter', /\p{L}/u],
  ['digit', /\p{N}/u],
  ['combining', /\p{M}/u],
  ['punctuation', /\p{P}/u],
  ['symbol', /\p{S}/u],
  ['private use', /\p{Co}/u],
  ['unpaired surrogate', /\p{Cs}/u],
  ['control', /\p{Cc}/u],
  ['invisible', /\p{Cf}|\p{Z}|\p{Default_Ignorable_Code_Point}/u],
];

/**
 * Splits a text into lines, with marks for what hides a part of it: control, invisible and
 * direction-changing characters by name, runs of blanks and of empty lines by count.
 */
export function markText(text: string, kind: TextKind): readonly MarkedLine[] {
  const lines: MarkedLine[] = [];
  let empty = 0;
  const flush = (): void => {
    if (empty > COUNTED_EMPTY_LINES) {
      lines.push([{ mark: `${empty} empty lines` }]);
    } else {
      lines.push(...Array.from({ length: empty }, (): MarkedLine => []));
    }
    empty = 0;
  };
  for (const line of text.split('\n')) {
    // Lines of a few blanks would push text out of sight like empty ones.
    if (/^ *$/.test(line)) {
      empty += 1;
      continue;
    }
    flush();
    lines.push(markLine(line, kind));
  }
  flush();
  return lines;
}

/** Returns a line as text, with each mark in {@link MARK_BRACKETS}. */
export function textOfLine(line: MarkedLine): string {
  const [open, close] = MARK_BRACKETS;
  return line
    .map((piece) => (typeof piece === 'string' ? piece : `${open}${piece.mark}${close}`))
    .join('');
}

/** Marks a text that is shown on one line, such as a name: line feeds are marked too. */
export function markLine(line: string, kind: TextKind): MarkedLine {
  const pieces: Piece[] = [];
  let plain = '';
  const add = (piece: Piece): void => {
    if (plain !== '') {
      pieces.push(plain);
      plain = '';
    }
    pieces.push(piece);
  };
  for (const run of runsOf(line, kind)) {
    switch (run.form) {
      case 'plain':
        plain += run.characters.join('');
        break;
      case 'blanks':
        add({ mark: `${run.characters.length} blanks` });
        break;
      case 'hidden':
        add({ mark: namesOf(run.characters) });
        break;
      case 'foreign':
        plain += run.characters.join('');
        add({ mark: namesOf(run.characters) });
        break;
    }
  }
  return plain === '' ? pieces : [...pieces, plain];
}

interface Run {
  readonly form: 'plain' | 'blanks' | 'hidden' | 'foreign';
  readonly characters: string[];
}

function runsOf(line: string, kind: TextKind): Run[] {
  const runs: Run[] = [];
  let stacked = 0;
  for (const character of line) {
    stacked = OF_PROSE.test(character) ? stacked + 1 : 0;
    const form = stacked > MAX_STACKED ? 'hidden' : formOf(character, kind);
    const last = runs.at(-1);
    if (last?.form === form) {
      last.characters.push(character);
    } else {
      runs.push({ form, characters: [character] });
    }
  }
  return runs.map((run) =>
    run.form === 'blanks' && run.characters.length < COUNTED_BLANKS
      ? { form: 'plain', characters: run.characters }
      : run,
  );
}

function formOf(character: string, kind: TextKind): Run['form'] {
  if (character === ' ') {
    return 'blanks';
  }
  if (/[\x21-\x7e]/.test(character)) {
    return 'plain';
  }
  if (NEVER_PLAIN.test(character)) {
    return 'foreign';
  }
  if (kind === 'prose' && OF_PROSE.test(character)) {
    return 'plain';
  }
  if (HIDDEN.test(character)) {
    return 'hidden';
  }
  return kind === 'command' ? 'foreign' : 'plain';
}

/** Names a run: a code point and its name, or the script that it is of. */
function namesOf(characters: readonly string[]): string {
  const named = characters.slice(0, MAX_NAMED).map((character) => {
    const code = character.codePointAt(0) ?? 0;
    const known = NAMES[code] ?? SCRIPTS.find(([, script]) => script.test(character))?.[0];
    return `U+${code.toString(16).toUpperCase().padStart(4, '0')} ${known ?? 'unassigned'}`;
  });
  const more = characters.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
