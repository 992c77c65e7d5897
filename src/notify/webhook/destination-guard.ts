import { lookup as resolve, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress, parseAddress } from '../../common/network/addresses.js';

/** The channel's host is, or resolves to, an address that this sender must not connect to. */
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

/** @throws DestinationRefused when the host is an address that is not public */
export function refuseLiteral(hostname: string): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isPublic(address)) {
    throw new DestinationRefused();
  }
}

/**
 * The socket connects to the checked address, without a second look-up. A single private address
 * refuses the host: mixed addresses suggest DNS rebinding.
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
