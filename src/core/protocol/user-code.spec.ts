import { randomInt } from 'node:crypto';
import { drawUserCode, readUserCode, showUserCode } from './user-code.js';

const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';

describe('a user code', () => {
  it('uses every letter of the alphabet with equal probability', () => {
    const bounds: number[] = [];
    const codes = Array.from({ length: 20 }, (_value, letter) =>
      drawUserCode((bound) => (bounds.push(bound), letter)),
    );
    expect(codes).toEqual([...ALPHABET].map((letter) => letter.repeat(8)));
    expect(new Set(bounds)).toEqual(new Set([20]));
  });

  it('is read as it is shown', () => {
    for (let round = 0; round < 1000; round += 1) {
      const code = drawUserCode(randomInt);
      const formatted = showUserCode(code);
      expect(formatted).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
      expect(readUserCode(formatted)).toBe(code);
    }
  });

  it.each(['WDJB-MJHT', 'wdjb-mjht', 'WDJBMJHT', 'wDjBmJhT'])('is read from %j', (text) => {
    expect(readUserCode(text)).toBe('WDJBMJHT');
  });

  it.each([
    ...['', 'WDJB', 'WDJB-MJH', 'WDJB-MJHTT', 'WDJ-BMJHT', '-WDJBMJHT', 'WDJB--MJHT'],
    ...['WDJB MJHT', 'ADJB-MJHT', 'WDJB-MJH0', 'WDJB-MJHY', ' WDJBMJHT', 'WDJBMJHT\n', 'ſDJBMJHT'],
  ])('is not read from %j', (text) => {
    expect(readUserCode(text)).toBeNull();
  });
});
