import { createHash } from 'node:crypto';
import { decodeUrlPem } from './url-pem.js';

/** Which element of `x-forwarded-client-cert` counts; `only` refuses a header with several. */
export type XfccElement = 'only' | 'first';

type Pairs = ReadonlyMap<string, readonly string[]>;

const KEY = /\s*([A-Za-z]+)=/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;
const BARE = /[^",;=]*/y;

/** Envoy's header: elements by `,`, pairs by `;`, values with those characters in quotes. */
export function decodeXfcc(text: string, wanted: XfccElement): Buffer[] | null {
  const elements = tokenize(text);
  const [first, ...others] = elements ?? [];
  if (first === undefined || (wanted === 'only' && others.length > 0)) {
    return null;
  }
  const cert = certificatesIn(first, 'cert');
  const chain = certificatesIn(first, 'chain');
  if (cert === null || chain === null || cert.length > 1) {
    return null;
  }
  // The chain has the leaf in it, so that both name the same certificate or neither is believed.
  const [leaf] = cert.length === 0 ? chain : cert;
  const isSame = cert.length === 0 || chain.length === 0 || chain[0]?.equals(leaf ?? chain[0]);
  if (leaf === undefined || isSame !== true || !isHashOf(first, leaf)) {
    return null;
  }
  return chain.length === 0 ? [leaf] : chain;
}

/** @returns none when the element does not have the key, null when it makes no sense */
function certificatesIn(element: Pairs, key: string): Buffer[] | null {
  const [value, ...others] = element.get(key) ?? [];
  if (others.length > 0) {
    return null;
  }
  return value === undefined || value === '' ? [] : decodeUrlPem(value);
}

function isHashOf(element: Pairs, leaf: Buffer): boolean {
  const [hash] = element.get('hash') ?? [];
  return (
    hash === undefined || hash.toLowerCase() === createHash('sha256').update(leaf).digest('hex')
  );
}

/** @returns elements with their keys in lower case; null where the text leaves the grammar */
function tokenize(text: string): Pairs[] | null {
  const elements = [new Map<string, string[]>()];
  let position = 0;
  for (;;) {
    const key = matchAt(KEY, text, position);
    if (key === null) {
      return null;
    }
    position += key[0].length;
    const value = matchAt(text[position] === '"' ? QUOTED : BARE, text, position);
    if (value === null) {
      return null;
    }
    position += value[0].length;
    const name = (key[1] ?? '').toLowerCase();
    const pairs = elements.at(-1) ?? new Map<string, string[]>();
    const plain = value[1] === undefined ? value[0] : value[1].replace(/\\(.)/g, '$1');
    pairs.set(name, [...(pairs.get(name) ?? []), plain]);
    if (position === text.length) {
      return elements;
    }
    if (text[position] === ',') {
      elements.push(new Map<string, string[]>());
    } else if (text[position] !== ';') {
      return null;
    }
    position += 1;
  }
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}
