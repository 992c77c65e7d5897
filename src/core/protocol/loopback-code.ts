import { sha256 } from '@noble/hashes/sha2.js';

/** No vowels, so that a code contains no words, and no similar letters (RFC 8628, 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

/**
 * The code (`XXXX-XXXX`) that a program and a page of the server show, for people to compare.
 * @param state chosen by the server; the program finds it in the address
 */
export function loopbackCode(state: string): string {
  const digest = sha256(new TextEncoder().encode(`gatehouse loopback v1\n${state}`));
  let rest = new DataView(digest.buffer, digest.byteOffset).getBigUint64(0);
  let code = '';
  for (let place = 0; place < LENGTH; place += 1) {
    code = `${LETTERS[Number(rest % 20n)]}${code}`;
    rest /= 20n;
  }
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}
