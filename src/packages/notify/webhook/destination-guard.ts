import { lookup as resolve, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { domainToASCII } from 'node:url';
import {
  isPublicAddress,
  isWithin,
  parseAddress,
  parseNetwork,
  type Address,
  type Network,
} from '../../../common/addresses.js';

/** The channel's host is, or resolves to, an address that this sender must not connect to. */
export class DestinationRefused extends Error {
  override readonly name = 'DestinationRefused';
  readonly code = 'destination-refused';

  constructor() {
    super('The host is not on the public internet, and this sender does not permit it.');
  }
}

export type ResolveAll = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const resolveAll: ResolveAll = (hostname, done) => resolve(hostname, { all: true }, done);

const EVERY_HOST = '*';
const HOST_NAME = /^[a-z\d_-]+(\.[a-z\d_-]+)*$/;
/** Names that every system resolves to itself (RFC 6761, 6.3). */
const THIS_MACHINE = /(^|\.)localhost\.?$/;
const LOOPBACK = ['127.0.0.0/8', '::1'].map(parseNetwork).filter((network) => network !== null);

/** Returns the networks of all interfaces, as they are now; none where the system does not say. */
export function networksOfThisMachine(): Network[] {
  try {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    return addresses
      .map(({ cidr }) => (cidr === null ? null : parseNetwork(cidr)))
      .filter((network) => network !== null);
  } catch {
    // Android refuses programs this question.
    return [];
  }
}

/**
 * Decides which hosts a sender connects to: those of the public internet, and what it permits. A public address in a
 * network of this machine counts as private: the firewall that protects it from others lets its neighbours through.
 */
export class DestinationGuard {
  private readonly names = new Set<string>();
  private readonly networks: Network[] = [];

  /**
   * @param permitted names, addresses and networks (CIDR) outside the public internet; `*` = all
   * @throws TypeError for an entry of another form
   */
  constructor(
    permitted: readonly string[] = [],
    private readonly all: ResolveAll = resolveAll,
    private readonly ownNetworks: () => readonly Network[] = networksOfThisMachine,
  ) {
    for (const entry of permitted) {
      const network = parseNetwork(withoutBrackets(entry));
      const name = entry.includes('/') ? '' : domainToASCII(entry);
      if (network !== null) {
        this.networks.push(network);
      } else if (name === EVERY_HOST || HOST_NAME.test(name)) {
        this.names.add(name);
      } else {
        throw new TypeError(`"${entry}" is no host name, no address and no network.`);
      }
    }
  }

  /** Returns true for a host that is refused without a look-up: an address, or this machine. */
  refuses(hostname: string): boolean {
    const address = withoutBrackets(hostname);
    if (isIP(address) !== 0) {
      return !this.permits(address);
    }
    const isPermitted = (): boolean =>
      this.permitsName(hostname) || ['127.0.0.1', '::1'].some((one) => this.permits(one));
    return THIS_MACHINE.test(hostname) && !isPermitted();
  }

  /**
   * The socket connects to the checked address, without a second look-up. A single refused address
   * refuses the host: mixed addresses suggest DNS rebinding. Of localhost, the permitted ones count.
   */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.all(hostname, (error, found) => {
      const addresses = error === null ? this.permitted(hostname, found) : [];
      const [first] = addresses;
      if (first === undefined) {
        callback(error ?? new DestinationRefused(), '', 0);
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };

  private permitsName(hostname: string): boolean {
    return this.names.has(EVERY_HOST) || this.names.has(hostname.replace(/\.$/, ''));
  }

  /** Returns the addresses that a name may lead to; none = the host is refused. */
  private permitted(hostname: string, found: LookupAddress[]): LookupAddress[] {
    if (this.permitsName(hostname)) {
      return found;
    }
    if (THIS_MACHINE.test(hostname)) {
      return found.filter(({ address }) => isLoopback(address) && this.permits(address));
    }
    return found.every(({ address }) => this.permits(address)) ? found : [];
  }

  private permits(text: string): boolean {
    const address = parseAddress(text);
    const isPermitted =
      address !== null && (this.isElsewhere(address) || isWithin(address, this.networks));
    return isPermitted || this.names.has(EVERY_HOST);
  }

  private isElsewhere(address: Address): boolean {
    return isPublicAddress(address) && !isWithin(address, this.ownNetworks());
  }
}

function isLoopback(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && isWithin(address, LOOPBACK);
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
