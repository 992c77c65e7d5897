export const MASK = '[masked]';

const ELLIPSIS = '…';
let segmenter: Intl.Segmenter | undefined;

/** Counts bytes without encoding, four times as fast; browsers do not have it. */
const { Buffer: counter } = globalThis as {
  readonly Buffer?: { byteLength(text: string): number };
};

export function utf8Length(text: string): number {
  return counter?.byteLength(text) ?? new TextEncoder().encode(text).length;
}

/**
 * @param longest number of UTF-16 units that can never fit, which avoids scanning a huge text
 * @param fits must hold for every prefix of a text that it holds for
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

export function shortenToBytes(text: string, maxBytes: number): string {
  return shortenToFit(text, maxBytes, (shorter) => utf8Length(shorter) <= maxBytes);
}

function graphemeEnds(text: string, longest: number): number[] {
  const ends = [0];
  // Loaded on demand: its data takes milliseconds, which most commands do not need.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  // The end of a grapheme depends on the following text: the last one may be cut, so it is omitted.
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

/** Other sequences of terminals are marked, because they could hide a command. */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const TERMINAL_COLOUR = /\u001b\[[\d;]*m/g;
/** Characters that hide text or change its direction, so that a command reads as another one. */
const DECEIVING = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;
const LINE_ENDS = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;

/** Marks control characters, bidirectional overrides and unpaired surrogates. Lines stay lines. */
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

export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim();
}
