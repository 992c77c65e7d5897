import { lowerAscii } from './lower-ascii.js';

describe(lowerAscii.name, () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    ['\u212aelvin', '\u212aelvin'],
    ['\u0130LKER', '\u0130lker'],
    ['ÄÖÜ', 'ÄÖÜ'],
    ['', ''],
  ])('writes %j as %j', (text, lower) => {
    expect(lowerAscii(text)).toBe(lower);
  });
});
