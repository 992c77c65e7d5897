/** Consonants without Y: no words, and no letters similar to digits (RFC 8628, 6.1). */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ';
const HALF = 4;
const CODE = new RegExp(`^[${ALPHABET}]{${HALF}}-?[${ALPHABET}]{${HALF}}$`, 'i');

export const USER_CODES = ALPHABET.length ** (2 * HALF);

/** @param draw an unbiased random integer from 0 up to, not including, its argument */
export function drawUserCode(draw: (bound: number) => number): string {
  const letters = Array.from({ length: 2 * HALF }, () => ALPHABET.charAt(draw(ALPHABET.length)));
  return letters.join('');
}

/** Formats as `XXXX-XXXX`. @param code of {@link readUserCode} */
export function showUserCode(code: string): string {
  return `${code.slice(0, HALF)}-${code.slice(HALF)}`;
}

/** Accepts any case and a dash. @returns null for an invalid code */
export function readUserCode(text: string): string | null {
  return CODE.test(text) ? text.replace('-', '').toUpperCase() : null;
}
