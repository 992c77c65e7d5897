const ELLIPSIS = '…';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Bytes of a text as UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
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
  // A grapheme is told from the next by what follows it: the last one may be cut, so it is left out.
  for (const { index } of graphemes.segment(text.slice(0, longest + 1))) {
    if (index > 0) {
      ends.push(index);
    }
  }
  return ends;
}

function beginning(text: string, end = 0): string {
  return `${text.slice(0, end).trimEnd()}${ELLIPSIS}`;
}
