import proxyAddress from '@fastify/proxy-addr';
import { LRUCache } from 'lru-cache';

const REMEMBERED_ADDRESSES = 1000;

/**
 * Whether a peer at this address is one of the proxies that are believed. Reading an address takes
 * longer than the rest of a request's admission, and proxies are few: verdicts are remembered.
 *
 * @param proxies addresses and CIDR ranges, validated with the settings
 */
export function trustOf(proxies: readonly string[]): (address: string, hop: number) => boolean {
  const isTrusted = proxyAddress.compile([...proxies]);
  const verdicts = new LRUCache<string, boolean>({ max: REMEMBERED_ADDRESSES });
  return (address, hop) => {
    const known = verdicts.get(address);
    if (known !== undefined) {
      return known;
    }
    const verdict = isTrusted(address, hop);
    verdicts.set(address, verdict);
    return verdict;
  };
}
