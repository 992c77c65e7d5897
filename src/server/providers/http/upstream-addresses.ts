import { lookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { networkOf, parseAddress, type NetworkKind } from '../../../common/addresses.js';

/** The farthest first: a host may name hosts of its own kind, and those farther away. */
const KINDS: readonly NetworkKind[] = ['public', 'private', 'local'];

const resolveAll = promisify(
  (hostname: string, done: (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void) =>
    lookup(hostname, { all: true }, done),
);

/** An upstream named a host that it must not make this server reach. */
class UpstreamAddressRefused extends Error {
  override readonly name = 'UpstreamAddressRefused';
}

export function upstreamAddressRefused(error: unknown): boolean {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof UpstreamAddressRefused) {
      return true;
    }
  }
  return false;
}

/** An issuer that only a proxy resolves counts as public. */
export async function reachOf(issuer: string): Promise<NetworkKind> {
  const host = hostOf(new URL(issuer));
  const addresses = await resolveAll(host).catch(() => []);
  return nearest(addresses.map(({ address }) => address));
}

/** @throws UpstreamAddressRefused when the host is an address itself, which no socket looks up */
export function refuseLiteral(url: URL, reach: NetworkKind): void {
  const host = hostOf(url);
  if (parseAddress(host) !== null && !isWithin(reach, [host])) {
    throw new UpstreamAddressRefused();
  }
}

/** Sockets connect to the addresses judged here: no second answer is used (DNS rebinding). */
export function lookupWithin(reach: NetworkKind): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) {
        callback(error ?? new UpstreamAddressRefused(), '', 0);
      } else if (
        !isWithin(
          reach,
          found.map(({ address }) => address),
        )
      ) {
        callback(new UpstreamAddressRefused(), '', 0);
      } else if (options.all === true) {
        callback(null, found);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}

function isWithin(reach: NetworkKind, addresses: readonly string[]): boolean {
  return KINDS.indexOf(nearest(addresses)) <= KINDS.indexOf(reach);
}

function nearest(addresses: readonly string[]): NetworkKind {
  const ranks = addresses.map((text) => {
    const address = parseAddress(text);
    return address === null ? KINDS.length - 1 : KINDS.indexOf(networkOf(address));
  });
  return KINDS[Math.max(0, ...ranks)] ?? 'local';
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}
