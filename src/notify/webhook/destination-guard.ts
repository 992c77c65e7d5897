import { lookup as resolve, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress, parseAddress } from '../../common/network/addresses.js';

/** The channel's host is, or has, an address that this sender must not talk to. */
export class DestinationRefused extends Error {
  override readonly name = 'DestinationRefused';
  readonly code = 'destination-refused';

  constructor() {
    super('The host of this channel is not on the public internet.');
  }
}

export type ResolveAll = (
  hostname: string,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const resolveAll: ResolveAll = (hostname, done) => resolve(hostname, { all: true }, done);

/** @throws DestinationRefused when the host is itself an address, and not a public one */
export function refuseLiteral(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublic(address)) {
    throw new DestinationRefused();
  }
}

/**
 * A `lookup` for sockets that gives public addresses only. The socket connects to what was checked
 * here: there is no second look-up which could have another answer. One address that is not public
 * refuses the host: mixed public and private addresses suggest DNS rebinding.
 */
export function publicLookup(all: ResolveAll = resolveAll): LookupFunction {
  return (hostname, options, callback) => {
    all(hostname, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) {
        callback(error ?? new DestinationRefused(), '', 0);
      } else if (!addresses.every(({ address }) => isPublic(address))) {
        callback(new DestinationRefused(), '', 0);
      } else if (options.all === true) {
        callback(null, addresses);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

function isPublic(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && isPublicAddress(address);
}
