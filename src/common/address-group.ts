import ipaddr from 'ipaddr.js';

/** Of the eight groups of an IPv6 address: one network, which one subscriber has (RFC 6177). */
const NETWORK_GROUPS = 4;

/**
 * What a limit per address counts by. IPv4 addresses stand for themselves, also mapped into IPv6;
 * of other IPv6 addresses the /64 counts, as a subscriber may use any address in it.
 *
 * @returns `10.0.0.7`, `2001:db8:0:1::/64`; what is no address as it is
 */
export function addressGroup(address: string): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) {
    return address;
  }
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) {
    return parsed.toIPv4Address().toString();
  }
  const network = parsed.parts.slice(0, NETWORK_GROUPS).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
