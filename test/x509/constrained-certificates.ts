import { generateKeyPairSync, sign } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { der, ECDSA_WITH_SHA256 } from '../fixtures/der.js';

/** One encoded GeneralName with its description for the title of a test. */
export interface EncodedName {
  readonly label: string;
  readonly der: Buffer;
}

/** Attributes of a name by short type, one relative name each. */
export type Attributes = readonly (readonly [
  type: keyof typeof TYPES,
  value: string,
  tag?: number,
])[];

export interface ConstrainedRequest {
  readonly subject: Attributes;
  /** Name of the authority; null = self-signed. */
  readonly issuer: Attributes;
  readonly names?: readonly EncodedName[];
  readonly constraints?: Constraints | null;
}

export interface Constraints {
  readonly permitted?: readonly EncodedSubtree[];
  readonly excluded?: readonly EncodedSubtree[];
}

/** `bounds` follow the base: `minimum` and `maximum`. */
export interface EncodedSubtree extends EncodedName {
  readonly bounds?: Buffer;
}

const TYPES = {
  C: '550406',
  O: '55040a',
  OU: '55040b',
  CN: '550403',
  DC: '0992268993f22c640119',
  email: '2a864886f70d010901',
} as const;

export const UTF8 = 0x0c;
export const PRINTABLE = 0x13;
export const IA5 = 0x16;
export const BMP = 0x1e;

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const text =
  (tag: number, form: string) =>
  (value: string): EncodedName => ({
    label: `${form}:${value}`,
    der: der(tag, Buffer.from(value, 'latin1')),
  });

export const email = text(0x81, 'email');
export const dns = text(0x82, 'dns');
export const uri = text(0x86, 'uri');

/** An address, or `address/mask` for a constraint. */
export function ip(value: string): EncodedName {
  const parts = value.split('/').map((part) => (isIPv6(part) ? v6(part) : v4(part)));
  return { label: `ip:${value}`, der: der(0x87, ...parts) };
}

const v4 = (address: string): Buffer => Buffer.from(address.split('.').map(Number));

function v6(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [before, after] = [groups(head), groups(tail)];
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  const all = [...before, ...zeros, ...after].map((group) => group.padStart(4, '0'));
  return Buffer.from(all.join(''), 'hex');
}

export function directory(...attributes: Attributes): EncodedName {
  const label = attributes.map(([type, value]) => `${type}=${value}`).join(',');
  return { label: `dir:${label}`, der: der(0xa4, nameOf(attributes)) };
}

/** An otherName of a type, with a UTF8String in it. */
export function other(type: string, value: string): EncodedName {
  const inner = der(0xa0, der(UTF8, Buffer.from(value)));
  return { label: `other ${type}:${value}`, der: der(0xa0, oid(type), inner) };
}

export const UPN = '2b060104018237140203';
export const SMTP_UTF8_MAILBOX = '2b06010505070809';

export function registeredId(hex: string): EncodedName {
  return { label: `registered:${hex}`, der: der(0x88, Buffer.from(hex, 'hex')) };
}

function nameOf(attributes: Attributes): Buffer {
  const sets = attributes.map(([type, value, tag]) => {
    const encoded = tag === BMP ? Buffer.from(value, 'utf16le').swap16() : Buffer.from(value);
    const own = tag ?? (type === 'email' || type === 'DC' ? IA5 : UTF8);
    return der(0x31, der(0x30, oid(TYPES[type]), der(own, encoded)));
  });
  return der(0x30, ...sets);
}

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const SPKI = publicKey.export({ type: 'spki', format: 'der' });
const TRUE = Buffer.of(0x01, 0x01, 0xff);

let serial = 0;

/** A certificate; all share one key, so that thousands are made in a second. */
export function constrained({ subject, issuer, names, constraints }: ConstrainedRequest): Buffer {
  serial += 1;
  const extensions = [
    ...(constraints === undefined
      ? []
      : [
          extension('551d13', der(0x30, TRUE), TRUE),
          extension('551d0f', Buffer.from('03020106', 'hex'), TRUE),
        ]),
    ...(constraints ? [extension('551d1e', encodeConstraints(constraints), TRUE)] : []),
    ...(names === undefined || names.length === 0
      ? []
      : [extension('551d11', der(0x30, ...names.map((one) => one.der)))]),
  ];
  const number = Buffer.alloc(5);
  number.writeUInt32BE(serial, 1);
  number[0] = 1;
  const dates = ['200101000000Z', '490101000000Z'].map((date) => der(0x17, Buffer.from(date)));
  const contents = der(
    0x30,
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, number),
    ECDSA_WITH_SHA256,
    nameOf(issuer),
    der(0x30, ...dates),
    nameOf(subject),
    SPKI,
    ...(extensions.length === 0 ? [] : [der(0xa3, der(0x30, ...extensions))]),
  );
  const signature = sign('sha256', contents, privateKey);
  return der(0x30, contents, ECDSA_WITH_SHA256, der(0x03, Buffer.of(0), signature));
}

function extension(type: string, value: Buffer, critical: Buffer = Buffer.alloc(0)): Buffer {
  return der(0x30, oid(type), critical, der(0x04, value));
}

function encodeConstraints({ permitted = [], excluded = [] }: Constraints): Buffer {
  const list = (tag: number, trees: readonly EncodedSubtree[]): Buffer[] =>
    trees.length === 0
      ? []
      : [der(tag, ...trees.map((tree) => der(0x30, tree.der, tree.bounds ?? Buffer.alloc(0))))];
  return der(0x30, ...list(0xa0, permitted), ...list(0xa1, excluded));
}
