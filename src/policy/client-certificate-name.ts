/** One attribute of a name. */
export interface NameAttribute {
  /** Dotted object identifier. */
  readonly type: string;
  readonly value: string;
}

/** A name as a certificate holds it: sets of attributes, the most general one first. */
export type DistinguishedName = readonly (readonly NameAttribute[])[];

export const COMMON_NAME = '2.5.4.3';

/** Short names of RFC 4514 and those that openssl prints, in lower case. */
const TYPES: Readonly<Record<string, string>> = {
  cn: COMMON_NAME,
  sn: '2.5.4.4',
  serialnumber: '2.5.4.5',
  c: '2.5.4.6',
  l: '2.5.4.7',
  st: '2.5.4.8',
  s: '2.5.4.8',
  street: '2.5.4.9',
  o: '2.5.4.10',
  ou: '2.5.4.11',
  title: '2.5.4.12',
  gn: '2.5.4.42',
  dc: '0.9.2342.19200300.100.1.25',
  uid: '0.9.2342.19200300.100.1.1',
  emailaddress: '1.2.840.113549.1.9.1',
};

/** Escaped pairs, and characters that need no escape. */
const VALUE = /(?:\\[0-9a-f]{2}|\\[ "#+,;<=>\\]|[^\\",;+<>\0])*/iy;
const TYPE = /\s*([a-z][a-z0-9-]*|\d+(?:\.\d+)+)\s*=\s*/iy;

/**
 * Reads a name in the text form of RFC 4514, with the spaces that openssl puts around `,` and `=`.
 *
 * @returns in the order of the text; null for anything that could be read in two ways
 */
export function parseDistinguishedName(text: string): DistinguishedName | null {
  const name: NameAttribute[][] = [];
  let isSameSet = false;
  let position = 0;
  for (;;) {
    const type = matchAt(TYPE, text, position);
    const oid = toObjectIdentifier(type?.[1] ?? '');
    if (type === null || oid === null) {
      return null;
    }
    const raw = matchAt(VALUE, text, position + type[0].length)?.[0] ?? '';
    position += type[0].length + raw.length;
    const attribute = { type: oid, value: unescape(raw) };
    if (attribute.value === null) {
      return null;
    }
    const set = isSameSet ? name.at(-1) : undefined;
    if (set === undefined) {
      name.push([attribute as NameAttribute]);
    } else {
      set.push(attribute as NameAttribute);
    }
    if (position === text.length) {
      return name;
    }
    const separator = text[position];
    if (separator !== ',' && separator !== '+') {
      return null;
    }
    isSameSet = separator === '+';
    position += 1;
  }
}

/** Values of all common names. */
export function commonNamesOf(name: DistinguishedName): string[] {
  return name.flat().flatMap(({ type, value }) => (type === COMMON_NAME ? [value] : []));
}

/** Whether two names have the same attributes, written from either end. */
export function isSameName(a: DistinguishedName, b: DistinguishedName): boolean {
  const wanted = spelled(a);
  return wanted === spelled(b) || wanted === spelled([...b].reverse());
}

function spelled(name: DistinguishedName): string {
  const sets = name.map((set) =>
    set.map(({ type, value }) => JSON.stringify([type, value.normalize('NFC')])).sort(),
  );
  return JSON.stringify(sets);
}

function toObjectIdentifier(type: string): string | null {
  return /^\d/.test(type) ? type : (TYPES[type.toLowerCase()] ?? null);
}

/** Escaped bytes are UTF-8 (RFC 4514, 2.4); null when they are not. */
function unescape(raw: string): string | null {
  const trimmed = raw.replace(/(?<!\\) +$/, '');
  const encoded = trimmed.replace(
    /\\([0-9a-f]{2})|\\(.)|%/gi,
    (match, hex?: string, char?: string) => {
      if (hex !== undefined) {
        return `%${hex}`;
      }
      return encodeURIComponent(char ?? match);
    },
  );
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}
