import { encodeQR } from 'qr';

const MODULE_PIXELS = 8;
const BORDER_MODULES = 4;
const WHITE = 235;
const BLACK = 16;
/** Of a colour without any. */
const GREY = 128;

/**
 * A film that Chromium shows as the picture of its camera (`--use-file-for-fake-video-capture`): a QR
 * code that stands still, as YUV4MPEG2.
 */
export function filmOfQr(text: string): Buffer {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: BORDER_MODULES });
  const size = rows.length * MODULE_PIXELS;
  const light = Buffer.alloc(size * size, WHITE);
  rows.forEach((row, y) =>
    row.forEach((isDark, x) => {
      for (let line = 0; isDark && line < MODULE_PIXELS; line += 1) {
        const start = (y * MODULE_PIXELS + line) * size + x * MODULE_PIXELS;
        light.fill(BLACK, start, start + MODULE_PIXELS);
      }
    }),
  );
  const frame = Buffer.concat([
    Buffer.from('FRAME\n'),
    light,
    Buffer.alloc((size * size) / 2, GREY),
  ]);
  return Buffer.concat([
    Buffer.from(`YUV4MPEG2 W${size} H${size} F10:1 Ip A1:1 C420\n`),
    frame,
    frame,
  ]);
}
