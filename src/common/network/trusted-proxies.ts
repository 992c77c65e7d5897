import proxyAddress from '@fastify/proxy-addr';
import { LRUCache } from 'lru-cache';

const MAX_CACHED_VERDICTS = 1000;

/**
 * Whether the peer at an address is a trusted proxy. Parsing an address takes longer than the rest of
 * the admission of a request, and proxies are few: verdicts are cached.
 *
 * @param proxies addresses and CIDR ranges, validated with the settings
 */
export function trustOf(proxies: readonly string[]): (address: string, hop: number) => boolean {
  const isTrusted = proxyAddress.compile([...proxies]);
  const verdicts = new LRUCache<string, boolean, number>({
    max: MAX_CACHED_VERDICTS,
    memoMethod: (address, _stale, { context: hop }) => isTrusted(address, hop),
  });
  return (address, hop) => verdicts.memo(address, { context: hop });
}
