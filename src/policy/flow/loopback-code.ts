import { createHash } from 'node:crypto';

/** No vowels, so that a code spells no word, and no letters that look alike (RFC 8628, 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/**
 * The code that a program and a page of the server both show before the browser goes from one to the
 * other (`XXXX-XXXX`), so that a person can see that they belong together.
 *
 * @param state of the authorization request: the server chose it at random, and the program finds it
 *   in the address that it was given to open
 */
export function loopbackCode(state: string): string {
  const digest = createHash('sha256').update(`gatehouse loopback v1\n${state}`).digest();
  let rest = digest.readBigUInt64BE();
  let code = '';
  for (let place = 0; place < LENGTH; place += 1) {
    code = `${LETTERS[Number(rest % 20n)]}${code}`;
    rest /= 20n;
  }
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
