import ipaddr from 'ipaddr.js';

export type Address = ReturnType<typeof ipaddr.parse>;
export type Network = ReturnType<typeof ipaddr.parseCIDR>;

const ranges = (text: string): readonly Network[] =>
  text.split(' ').map((one) => ipaddr.parseCIDR(one));

/** Not on the public internet, or not an address of one host (IANA special-purpose registries). */
const NOT_PUBLIC = ranges(
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 ' +
    '192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 ' +
    '198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 ' +
    // The platform of Azure, which each of its machines reaches there.
    '168.63.129.16/32 ' +
    // Translations (2002::, Teredo in 2001::/23) could carry a private IPv4 address.
    '2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20',
);
/** All other IPv6 is local, multicast, translated or not assigned. */
const PUBLIC_IPV6 = ranges('2000::/3');
/** Addresses of this machine, of its link, or of a private network (RFC 1122, 1918, 3927, 4193, 4291). */
const PRIVATE = ranges(
  '10.0.0.0/8 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 ::1/128 fc00::/7 fe80::/10',
);
/** Private networks that routers connect, carrier networks included (RFC 1918, 6598, 4193). */
const ROUTED_PRIVATE = ranges('10.0.0.0/8 100.64.0.0/10 172.16.0.0/12 192.168.0.0/16 fc00::/7');
/** Groups of an IPv6 address that name the network of one subscriber (RFC 6177). */
const NETWORK_GROUPS = 4;

/** null for other texts, with a zone (`fe80::1%eth0`) or leading zeros, which may mean octal. */
export function parseAddress(text: string): Address | null {
  const last = text.slice(text.lastIndexOf(':') + 1);
  const isDotted = ipaddr.IPv4.isValidFourPartDecimal(last);
  if (!text.includes(':')) {
    return isDotted ? ipaddr.IPv4.parse(text) : null;
  }
  if (text.includes('%') || isDotted !== last.includes('.')) {
    return null;
  }
  // ipaddr.js reads the IPv4-compatible ::1.2.3.4 as the mapped ::ffff:1.2.3.4.
  const full = isDotted ? text.replace(/^::(?=\d+\.)/, '0:0:0:0:0:0:') : text;
  return ipaddr.IPv6.isValid(full) ? ipaddr.IPv6.parse(full) : null;
}

/** Reads an address, or a network such as `10.0.0.0/8`. null for other texts. */
export function parseNetwork(text: string): Network | null {
  const [, first = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const parsed = parseAddress(first);
  if (parsed === null) {
    return null;
  }
  const address = length === undefined ? unmapped(parsed) : parsed;
  const most = address.kind() === 'ipv4' ? 32 : 128;
  const bits = length === undefined ? most : Number(length);
  return bits > most ? null : ([address, bits] as Network);
}

/** Mapped IPv4 is judged as IPv4. */
export function isPublicAddress(address: Address): boolean {
  const plain = unmapped(address);
  const isKnown = plain.kind() === 'ipv4' || isWithin(plain, PUBLIC_IPV6);
  return isKnown && !isWithin(plain, NOT_PUBLIC);
}

/** Not the opposite of {@link isPublicAddress}: carrier networks (100.64.0.0/10) are neither. */
export function isPrivateAddress(address: Address): boolean {
  return isWithin(address, PRIVATE);
}

/** `local`: this machine, its link (metadata services included), or no address of one host. */
export type NetworkKind = 'public' | 'private' | 'local';

export function networkOf(address: Address): NetworkKind {
  if (isPublicAddress(address)) {
    return 'public';
  }
  return isWithin(address, ROUTED_PRIVATE) ? 'private' : 'local';
}

/**
 * The key of a limit per address: a subscriber may use any IPv6 address of a /64.
 * @returns `10.0.0.7`, also for mapped IPv4, `2001:db8:0:1::/64`; any other text unchanged
 */
export function addressGroup(text: string): string {
  const address = text.includes(':') ? parseAddress(text.replace(/%.*/, '')) : null;
  if (address === null) {
    return text;
  }
  const plain = unmapped(address);
  if (plain instanceof ipaddr.IPv4) {
    return plain.toString();
  }
  const network = plain.parts.slice(0, NETWORK_GROUPS).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** Returns mapped IPv4 (`::ffff:10.0.0.7`) as IPv4, and any other text unchanged. */
export function unmappedText(text: string): string {
  const address = text.startsWith('::ffff:') ? parseAddress(text) : null;
  return address === null ? text : unmapped(address).toString();
}

function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;
}

/** Mapped IPv4 is judged as IPv4. */
export function isWithin(address: Address, among: readonly Network[]): boolean {
  const plain = unmapped(address);
  return among.some(
    ([network, bits]) => network.kind() === plain.kind() && plain.match(network, bits),
  );
}
