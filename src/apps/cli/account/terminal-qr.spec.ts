import decodeQR from 'qr/decode.js';
import { deviceLink } from '../../../packages/client/devices/device-link.js';
import { drawQr } from './terminal-qr.js';

const LINK = deviceLink({
  serverUrl: 'https://a-long-name-of-a-server.gate.example.org/with/a/path',
  userCode: 'WDJB-MJHT',
  publicKey: Buffer.alloc(32, 7).toString('base64url'),
  linkSecret: Buffer.alloc(32, 9).toString('base64url'),
});
const SCALE = 4;
/** The upper and the lower half of a character; true means light. */
const HALVES: Readonly<Record<string, readonly [boolean, boolean]>> = {
  ' ': [false, false],
  '▀': [true, false],
  '▄': [false, true],
  '█': [true, true],
};

/** Reads the drawing as a camera does. */
function scan(drawing: string): string {
  const lines = drawing.split('\n');
  const rows = lines.flatMap((line) => [0, 1].map((half) => [...line].map(lightAt(half))));
  const [width, height] = [(rows[0]?.length ?? 0) * SCALE, rows.length * SCALE];
  const data = new Uint8Array(width * height * 4).fill(255);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const [x, y] = [Math.floor((pixel % width) / SCALE), Math.floor(pixel / width / SCALE)];
    data.fill(rows[y]?.[x] === true ? 255 : 0, pixel * 4, pixel * 4 + 3);
  }
  // The default timeout is the time of one frame.
  return decodeQR({ width, height, data }, { timeLimit: 600_000 });
}

const lightAt = (half: number) => (character: string) => HALVES[character]?.[half] ?? false;

describe(drawQr.name, () => {
  it('draws a code that a scanner reads', () => {
    expect(scan(drawQr(LINK, false))).toBe(LINK);
  });

  it('fits a terminal of 80 columns', () => {
    const lines = drawQr(LINK, false).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('sets the colours of a terminal on every line, and nothing else', () => {
    const coloured = drawQr(LINK, true).split('\n');
    const plain = drawQr(LINK, false).split('\n');
    expect(coloured).toEqual(plain.map((line) => `\u001b[97;40m${line}\u001b[0m`));
  });
});
