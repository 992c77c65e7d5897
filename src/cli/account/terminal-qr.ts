import { encodeQR } from 'qr';

/** White on black, whatever the colours of the terminal: some scanners read no inverted code. */
const COLOURS = ['\u001b[97;40m', '\u001b[0m'] as const;
/** The quiet zone in modules; scanners need less than the four of ISO/IEC 18004. */
const BORDER = 2;

/**
 * A QR code of half blocks, two modules to a character: its light modules are drawn.
 *
 * @param hasColours whether it is written to a terminal; otherwise for dark terminals
 */
export function drawQr(text: string, hasColours: boolean): string {
  const lines = encodeQR(text, 'ascii', { ecc: 'low', border: BORDER }).trimEnd().split('\n');
  return hasColours ? lines.map((line) => COLOURS.join(line)).join('\n') : lines.join('\n');
}
