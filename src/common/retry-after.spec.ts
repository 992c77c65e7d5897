import { readRetryAfter } from './retry-after.js';

const NOW = Date.UTC(2026, 9, 1, 12);

describe(readRetryAfter.name, () => {
  it.each([
    ['120', 120_000],
    [' 3 ', 3_000],
    ['0', 0],
    ['Thu, 01 Oct 2026 12:00:05 GMT', 5_000],
    ['Thursday, 01-Oct-26 12:00:05 GMT', 5_000],
    ['Thu Oct  1 12:00:05 2026', 5_000],
    ['Thu, 01 Oct 2026 11:59:55 GMT', 0],
    ['-1', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['Soon, maybe', undefined],
    ['1e9', undefined],
    ['99999999999', undefined],
    ['', undefined],
    [null, undefined],
    [undefined, undefined],
    [['1', '2'], undefined],
  ])('reads %j as %j', (header, expected) => {
    expect(readRetryAfter(header, NOW)).toBe(expected);
  });
});
