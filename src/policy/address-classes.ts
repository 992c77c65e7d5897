/** A range of addresses: its first bytes, and how many bits of them count. */
interface Range {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** Not on the public internet, or not an address of one host (IANA special-purpose registries). */
const REFUSED_V4: readonly Range[] = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(range);

/**
 * Public IPv6 is 2000::/3; all else is local, multicast, translated or not given out. Within it
 * these are left out. Translations (64:ff9b::, 2002::, Teredo) could carry a private IPv4 address.
 */
const PUBLIC_V6 = range('2000::/3');
const REFUSED_V6: readonly Range[] = [
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
].map(range);

/** Of this machine, of its link, or of a private network (RFC 1122, 1918, 3927, 4193, 4291). */
const PRIVATE_V4: readonly Range[] = [
  '10.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
].map(range);
const PRIVATE_V6: readonly Range[] = ['::1/128', 'fc00::/7', 'fe80::/10'].map(range);

const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * The bytes of an address, 4 or 16; null for anything else, zones (`fe80::1%eth0`) included. Octets
 * with leading zeros, which some resolvers read as octal, are none.
 */
export function addressBytes(text: string): readonly number[] | null {
  return text.includes(':') ? v6Bytes(text) : v4Bytes(text);
}

/**
 * Whether an address, as bytes, is one of a host on the public internet. IPv4 mapped into IPv6 is
 * judged as IPv4.
 */
export function isPublicAddress(bytes: readonly number[]): boolean {
  const address = unmapped(bytes);
  if (address.length === 4) {
    return !REFUSED_V4.some((refused) => isWithin(address, refused));
  }
  const isKnown = address.length === 16 && isWithin(address, PUBLIC_V6);
  return isKnown && !REFUSED_V6.some((refused) => isWithin(address, refused));
}

/**
 * Whether an address, as bytes, is of this machine or of a network that strangers have no address
 * in. Not the opposite of {@link isPublicAddress}: carrier networks (100.64.0.0/10) are neither.
 */
export function isPrivateAddress(bytes: readonly number[]): boolean {
  const address = unmapped(bytes);
  const ranges = address.length === 4 ? PRIVATE_V4 : PRIVATE_V6;
  return ranges.some((one) => isWithin(address, one));
}

function unmapped(bytes: readonly number[]): readonly number[] {
  const isMapped =
    bytes.length === 16 && MAPPED_PREFIX.every((byte, index) => bytes[index] === byte);
  return isMapped ? bytes.slice(12) : bytes;
}

function isWithin(bytes: readonly number[], { bytes: prefix, bits }: Range): boolean {
  return prefix.every((expected, index) => {
    const counted = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - counted)) & 0xff;
    return ((bytes[index] ?? 0) & mask) === (expected & mask);
  });
}

function range(text: string): Range {
  const [address = '', bits] = text.split('/');
  return { bytes: addressBytes(address) ?? [], bits: Number(bits) };
}

function v4Bytes(text: string): readonly number[] | null {
  const parts = text.split('.');
  const isAddress = parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
  return parts.length === 4 && isAddress ? parts.map(Number) : null;
}

function v6Bytes(text: string): readonly number[] | null {
  const [before = '', after, ...more] = text.split('::');
  const head = groupBytes(before, after === undefined);
  const tail = after === undefined ? [] : groupBytes(after, true);
  if (head === null || tail === null || more.length > 0) {
    return null;
  }
  const missing = 16 - head.length - tail.length;
  const isComplete = after === undefined ? missing === 0 : missing >= 2;
  return isComplete ? [...head, ...Array<number>(missing).fill(0), ...tail] : null;
}

function groupBytes(text: string, isLast: boolean): number[] | null {
  const groups = text === '' ? [] : text.split(':');
  const bytes: number[] = [];
  for (const [index, group] of groups.entries()) {
    const mayBeDotted = isLast && index === groups.length - 1 && group.includes('.');
    const dotted = mayBeDotted ? v4Bytes(group) : null;
    if (dotted === null && !/^[0-9a-f]{1,4}$/i.test(group)) {
      return null;
    }
    const value = parseInt(group, 16);
    bytes.push(...(dotted ?? [value >> 8, value & 0xff]));
  }
  return bytes;
}
