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

export interface ListenAddress {
  readonly port: number;
  readonly host: string;
}

/** Names of the two variables, for the message of a failure. */
interface ListenVariables {
  readonly port: string;
  readonly host: string;
}

/** Listens at the address, and names the variable if that is not possible. */
export async function listenOn(
  { port, host }: ListenAddress,
  variables: ListenVariables,
  listen: (address: ListenAddress) => Promise<unknown>,
): Promise<void> {
  try {
    await listen({ port, host: listenHost(host) });
  } catch (error) {
    const reason = reasonOf(error as ListenError, { port, host }, variables);
    throw reason === null ? error : new Error(reason, { cause: error });
  }
}

interface ListenError extends NodeJS.ErrnoException {
  readonly port?: number;
  readonly hostname?: string;
}

/** Returns null for an error of another part, such as a database whose name cannot be resolved. */
function reasonOf(
  { code = '', syscall, ...of }: ListenError,
  { port, host }: ListenAddress,
  variables: ListenVariables,
): string | null {
  if (syscall === 'getaddrinfo' && of.hostname === host) {
    return `${variables.host} ${host} cannot be resolved (${code}).`;
  }
  if (syscall !== 'listen' || (of.port ?? 0) !== port) {
    return null;
  }
  const ofPort = PORT_REASONS[code];
  return ofPort === undefined
    ? `${variables.host} ${host} is not an address of this machine that can be used (${code}).`
    : `${variables.port} ${port} on ${host} ${ofPort} (${code}).`;
}

const PORT_REASONS: Readonly<Record<string, string>> = {
  EACCES: 'needs a right that this process does not have',
  EADDRINUSE: 'is in use by another process',
};
