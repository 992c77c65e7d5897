import { jest } from '@jest/globals';
import LocalStore from '@fastify/rate-limit/store/LocalStore.js';
import fc from 'fast-check';
import { USER_CODE_LIFETIME_MS, USER_CODE_LOOKUPS, USER_CODES } from '../policy/flow/user-code.js';

const { max, timeWindow } = USER_CODE_LOOKUPS;
/** RFC 8628, 5.1. */
const BOUND = 2 ** -32;

/** The times at which the limit allows a look-up of one account or address. */
function allowedOf(times: readonly number[]): readonly number[] {
  const store = new LocalStore(false, false, 1);
  return times.filter((time) => {
    jest.setSystemTime(time);
    let count = 0;
    store.incr('guesser', (_error, counted) => (count = counted?.current ?? 0), timeWindow, max);
    return count <= max;
  });
}

/** The most look-ups in the lifetime of any one code, whenever it was issued. */
function mostInOneLifetime(times: readonly number[]): number {
  const within = (from: number): number =>
    times.filter((time) => time >= from && time < from + USER_CODE_LIFETIME_MS).length;
  return Math.max(0, ...times.map(within));
}

describe('guessing a user code', () => {
  beforeAll(() => jest.useFakeTimers({ now: 0 }));
  afterAll(() => jest.useRealTimers());

  const worst = 2 * max - 1;

  it('allows an account or an address five guesses in the lifetime of a code at most', () => {
    const start = 1_000_000_000;
    const burst = Array.from({ length: 10 }, () => start + timeWindow);
    const end = Array.from({ length: 10 }, () => start + timeWindow - 1);
    expect(mostInOneLifetime(allowedOf([start, ...end, ...burst]))).toBe(worst);
    expect(worst).toBe(5);
  });

  it('allows no more, however they are timed', () => {
    const gaps = fc.array(fc.nat(USER_CODE_LIFETIME_MS), { maxLength: 40 });
    fc.assert(
      fc.property(gaps, fc.integer({ min: 1, max: 200 }), (steps, divisor) => {
        let now = 1_000_000_000;
        const times = steps.map((step) => (now += Math.floor(step / divisor)));
        expect(mostInOneLifetime(allowedOf(times))).toBeLessThanOrEqual(worst);
      }),
    );
  });

  it('finds a given code with less than 2^-32', () => {
    expect(USER_CODES).toBe(20 ** 8);
    expect(worst / USER_CODES).toBeLessThan(BOUND);
    expect((worst + 1) / USER_CODES).toBeGreaterThan(BOUND);
  });
});
