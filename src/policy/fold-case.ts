/**
 * The text for a comparison without case. A letter outside ASCII never becomes one inside it: the
 * Kelvin sign lower-cased is a plain k, which would let somebody register a look-alike of a listed
 * name.
 */
export function foldCase(text: string): string {
  return text.replace(/./gsu, (letter) => {
    const lower = letter.toLowerCase();
    return isAscii(lower) && !isAscii(letter) ? letter : lower;
  });
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
