import { lookup as resolve, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { domainToASCII } from 'node:url';
import {
  isPublicAddress,
  isWithin,
  parseAddress,
  parseNetwork,
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

/** Decides which hosts a sender connects to: those of the public internet, and what it permits. */
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
    return isIP(address) === 0
      ? THIS_MACHINE.test(hostname) && !this.permitsName(hostname)
      : !this.permitsAll([address]);
  }

  /**
   * The socket connects to the checked address, without a second look-up. A single refused address
   * refuses the host: mixed addresses suggest DNS rebinding.
   */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.all(hostname, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) {
        callback(error ?? new DestinationRefused(), '', 0);
      } else if (
        !this.permitsName(hostname) &&
        !this.permitsAll(addresses.map(({ address }) => address))
      ) {
        callback(new DestinationRefused(), '', 0);
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

  private permitsAll(texts: readonly string[]): boolean {
    return (
      this.names.has(EVERY_HOST) ||
      texts.every((text) => {
        const address = parseAddress(text);
        return address !== null && (isPublicAddress(address) || isWithin(address, this.networks));
      })
    );
  }
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}
