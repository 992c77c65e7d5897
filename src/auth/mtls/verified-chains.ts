import { LRUCache } from 'lru-cache';
import {
  pathFlaw,
  validateChain,
  type CertificatePath,
  type ChainFlaw,
  type TrustStore,
} from './certificate-chain.js';
import type { ParsedCertificate } from './parse-certificate.js';

interface VerifiedChain {
  readonly store: TrustStore;
  readonly path: CertificatePath;
}

/** Remembers the paths of chains that passed, because signatures take longest to check. */
export class VerifiedChains {
  private readonly known: LRUCache<string, VerifiedChain>;

  /** @param max chains that are remembered */
  constructor(max: number) {
    this.known = new LRUCache({ max });
  }

  /**
   * Validates a chain against the authorities of this moment.
   *
   * @param chain the client's own certificate first
   * @param now Unix milliseconds
   * @returns null when it leads to an authority
   */
  flawOf(
    chain: readonly ParsedCertificate[],
    store: TrustStore | null,
    now: number,
  ): ChainFlaw | null {
    if (store === null) {
      return 'not-trusted';
    }
    const key = chain.map(({ facts }) => facts.fingerprint).join();
    const known = this.known.get(key);
    if (known?.store === store) {
      return pathFlaw(known.path, store, now);
    }
    const path = validateChain(chain, store, now);
    if (typeof path === 'string') {
      return path;
    }
    this.known.set(key, { store, path });
    return null;
  }
}
