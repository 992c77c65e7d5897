import { USER_CODE_MISSES } from '../../core/policy/flow/code-limits.js';
import { RATE_LIMIT_VARIABLES } from '../config/http.config.js';
import { USER_CODES } from '../../core/protocol/user-code.js';

const { perAccount, perAddress } = USER_CODE_MISSES;

/** A miss counts for as long as a code is valid: no more guesses fall into the lifetime of any code. */
const chance = (guesses: number): number => guesses / USER_CODES;

describe('guessing a user code', () => {
  it('finds a given code with less than 2^-32 from one account (RFC 8628, 5.1)', () => {
    expect(USER_CODES).toBe(20 ** 8);
    expect(chance(perAccount)).toBeLessThan(2 ** -32);
  });

  it('finds a given code with less than 2^-28 from one address, with any number of accounts', () => {
    expect(chance(perAddress)).toBeLessThan(2 ** -28);
  });

  it('leaves an office as many misses as twenty people have who mistype three times', () => {
    expect(perAddress).toBe(20 * perAccount);
  });
});

describe('guessing an invitation code', () => {
  it('finds one of a million codes with less than 2^-20 in a year from a million addresses', () => {
    const perMinute = RATE_LIMIT_VARIABLES.AUTH_LOGIN_RATE_LIMIT_PER_IP_PER_MINUTE.default;
    const tries = 365 * 24 * 60 * perMinute * 1_000_000;
    expect((tries * 1_000_000) / 32 ** 18).toBeLessThan(2 ** -20);
  });
});
