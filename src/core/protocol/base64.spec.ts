import * as fc from 'fast-check';
import { normalizeBase64 } from './base64.js';

describe(normalizeBase64.name, () => {
  it('reads all four encodings of Buffer as one', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 80 }), (bytes) => {
        const expected = Buffer.from(bytes).toString('base64url');
        const standard = Buffer.from(bytes).toString('base64');
        const padded = standard.replaceAll('+', '-').replaceAll('/', '_');
        for (const spelling of [expected, standard, standard.replace(/=+$/, ''), padded]) {
          expect(normalizeBase64(spelling, 1, 80)).toBe(expected);
        }
      }),
    );
  });

  it.each([
    ['a mixed alphabet', 'ab+_'],
    ['white space', 'YWJj\n'],
    ['an inner pad', 'YQ==YQ=='],
    ['a wrong pad', 'YWI=='],
    ['a lone character', 'A'],
    ['stray trailing bits', 'YR=='],
    ['too few bytes', ''],
    ['too many bytes', 'A'.repeat(200)],
  ])('refuses %s', (_what, text) => {
    expect(normalizeBase64(text, 1, 80)).toBeNull();
  });
});
