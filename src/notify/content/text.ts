const ELLIPSIS = '…';
let segmenter: Intl.Segmenter | undefined;

/** Counts without encoding, four times as fast; browsers have none. */
const { Buffer: counter } = globalThis as {
  readonly Buffer?: { byteLength(text: string): number };
};

/** Bytes of a text as UTF-8. */
export function utf8Length(text: string): number {
  return counter?.byteLength(text) ?? new TextEncoder().encode(text).length;
}

/**
 * The longest beginning of `text`, in whole graphemes and with an ellipsis where something is
 * missing, that `fits`. The whole text when that fits; an ellipsis alone when nothing longer does.
 *
 * @param longest UTF-16 units that cannot fit whatever they are: saves looking at a huge text
 * @param fits must hold for every beginning of a text that it holds for
 */
export function shortenToFit(
  text: string,
  longest: number,
  fits: (text: string) => boolean,
): string {
  if (text.length <= longest && fits(text)) {
    return text;
  }
  const ends = graphemeEnds(text, longest);
  let kept = 0;
  let tooMany = ends.length;
  while (kept + 1 < tooMany) {
    const middle = (kept + tooMany) >> 1;
    if (fits(beginning(text, ends[middle]))) {
      kept = middle;
    } else {
      tooMany = middle;
    }
  }
  return beginning(text, ends[kept]);
}

/** The same by bytes of UTF-8 alone. */
export function shortenToBytes(text: string, maxBytes: number): string {
  return shortenToFit(text, maxBytes, (shorter) => utf8Length(shorter) <= maxBytes);
}

/** Where the graphemes within the first `longest` units end, beginning with 0. */
function graphemeEnds(text: string, longest: number): number[] {
  const ends = [0];
  // Loading its data takes milliseconds that most commands do not need to spend.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  // The end of a grapheme depends on what follows: the last one may be cut, so it is left out.
  for (const { index } of segmenter.segment(text.slice(0, longest + 1))) {
    if (index > 0) {
      ends.push(index);
    }
  }
  return ends;
}

function beginning(text: string, end = 0): string {
  return `${text.slice(0, end).trimEnd()}${ELLIPSIS}`;
}

/** Colours of terminals. Other sequences stay, with their start marked: they could hide a command. */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const TERMINAL_COLOUR = /\u001b\[[\d;]*m/g;
/** Characters that hide text or turn its direction, so that a command reads as another one. */
const DECEIVING = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;
const LINE_ENDS = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;

/**
 * Text as it may be shown on a lock screen: no terminal colours, and a visible mark where a
 * control character, a bidirectional override or half a surrogate pair was. Lines stay lines.
 */
export function cleanText(text: string): string {
  return text
    .replace(TERMINAL_COLOUR, '')
    .replace(LINE_ENDS, '\n')
    .replaceAll('\t', '  ')
    .replace(DECEIVING, '\ufffd')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^\n+|\n+$/g, '');
}

/** The same on one line. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}
