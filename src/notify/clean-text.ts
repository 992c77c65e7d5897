/** Colours of terminals. Other sequences stay, with their start marked: they could hide a command. */
// eslint-disable-next-line no-control-regex -- these are what it looks for
const TERMINAL_COLOUR = /\u001b\[[\d;]*m/g;
/** Characters that hide text or turn its direction, so that a command reads as another one. */
const DECEIVING = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\p{Cs}/gu;
const LINE_ENDS = /\r\n|[\r\v\f\u0085\u2028\u2029]/g;

/**
 * Text as it may be shown on somebody's lock screen: no terminal colours, and a visible mark where a
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
