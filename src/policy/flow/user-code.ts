/** Consonants without Y: no words, and no letter that is taken for a digit (RFC 8628, 6.1). */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const HALF = 4;
const CODE = new RegExp(`^[${ALPHABET}]{${HALF}}-?[${ALPHABET}]{${HALF}}$`, 'i');

/** The number of different user codes. */
export const USER_CODES = ALPHABET.length ** (2 * HALF);

/** How long a user code is valid. */
export const USER_CODE_LIFETIME_MS = 10 * 60_000;

/**
 * Look-ups of an account and of an address group. A window starts with its first look-up, so five fall
 * into the lifetime of one code at most: two at the end of a window, three at the start of the next.
 * Five guesses find a given code with less than 2^-32 (RFC 8628, 5.1).
 */
export const USER_CODE_LOOKUPS = { max: 3, timeWindow: USER_CODE_LIFETIME_MS };

/**
 * A new user code, as it is stored: eight letters.
 *
 * @param draw an unbiased random integer from 0 up to, not including, its argument
 */
export function drawUserCode(draw: (bound: number) => number): string {
  const letters = Array.from({ length: 2 * HALF }, () => ALPHABET.charAt(draw(ALPHABET.length)));
  return letters.join('');
}

/** A user code as it is shown: `XXXX-XXXX`. @param code of {@link readUserCode} */
export function showUserCode(code: string): string {
  return `${code.slice(0, HALF)}-${code.slice(HALF)}`;
}

/**
 * Reads a user code as a person types it: in any case, with the dash or without.
 *
 * @returns its eight letters in upper case; null when it cannot be one
 */
export function readUserCode(text: string): string | null {
  return CODE.test(text) ? text.replace('-', '').toUpperCase() : null;
}
