import { networkInterfaces, type NetworkInterfaceInfo } from 'node:os';

const EVERY_ADDRESS = '::';
const EVERY_IPV4_ADDRESS = '0.0.0.0';

/**
 * A socket on `::` takes IPv4 as well, but a kernel without IPv6 cannot make one.
 * @param host an address or a name of this machine
 * @returns `0.0.0.0` in place of `::` where no interface has an IPv6 address
 */
export function listenHost(
  host: string,
  interfaces: NodeJS.Dict<Pick<NetworkInterfaceInfo, 'family'>[]> = networkInterfaces(),
): string {
  const hasIpv6 = Object.values(interfaces)
    .flat()
    .some((one) => one?.family === 'IPv6');
  return host === EVERY_ADDRESS && !hasIpv6 ? EVERY_IPV4_ADDRESS : host;
}
