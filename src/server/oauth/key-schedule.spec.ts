import { currentKey, nextKeyFrom, retiredKeys } from './key-schedule.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-06-01T00:00:00Z');

const key = (kid: string, days: number, alg = 'ES256') => ({
  kid,
  alg,
  signsFrom: NOW + days * DAY,
});

describe('the key schedule', () => {
  it('needs a key at once where there is none of the algorithm', () => {
    expect(nextKeyFrom([], 'ES256', NOW)).toBe(NOW);
    expect(nextKeyFrom([key('a', -1, 'RS256')], 'ES256', NOW)).toBe(NOW);
  });

  it('makes the next key a day before the current one has signed for 90 days', () => {
    expect(nextKeyFrom([key('a', -88.9)], 'ES256', NOW)).toBeNull();
    expect(nextKeyFrom([key('a', -89)], 'ES256', NOW)).toBe(NOW + DAY);
  });

  it('makes only one next key', () => {
    expect(nextKeyFrom([key('a', -89.5), key('b', 0.5)], 'ES256', NOW)).toBeNull();
  });

  it('signs with the newest key that has begun', () => {
    const keys = [key('a', -90), key('b', -1), key('c', 1), key('d', -0.5, 'RS256')];
    expect(currentKey(keys, 'ES256', NOW)?.kid).toBe('b');
  });

  it('signs with the first key although the clock that made it is ahead', () => {
    expect(currentKey([key('d', 2), key('c', 1)], 'ES256', NOW)?.kid).toBe('c');
    expect(nextKeyFrom([key('c', 1)], 'ES256', NOW)).toBeNull();
    expect(currentKey([], 'ES256', NOW)).toBeUndefined();
  });

  it('retires a key 20 minutes after the next one signs', () => {
    const minutes = (count: number) => key('b', -count / 1440);
    expect(retiredKeys([key('a', -90), minutes(19)], NOW)).toEqual([]);
    expect(retiredKeys([key('a', -90), minutes(20)], NOW).map(({ kid }) => kid)).toEqual(['a']);
    expect(retiredKeys([key('a', -90), key('b', -1, 'RS256')], NOW)).toEqual([]);
  });
});
