import { encodeQR } from 'qr';

/** White on black in every terminal, because some scanners cannot read inverted codes. */
const COLOURS = ['\u001b[97;40m', '\u001b[0m'] as const;
/** Width of the quiet zone in modules; scanners need less than the four of ISO/IEC 18004. */
const BORDER = 2;

/** Two modules share a character, of which the light ones are drawn. */
export function drawQr(text: string, hasColours: boolean): string {
  const lines = encodeQR(text, 'ascii', { ecc: 'low', border: BORDER }).trimEnd().split('\n');
  return hasColours ? lines.map((line) => COLOURS.join(line)).join('\n') : lines.join('\n');
}
