import { LRUCache } from 'lru-cache';
import {
  currentFlaw,
  validateChain,
  type CertificatePath,
  type ChainFlaw,
  type TrustStore,
} from '../../../core/x509/certificate-chain.js';
import type { ParsedCertificate } from '../../../core/x509/parse-certificate.js';

/** Verifying signatures takes longest, so paths of valid chains are cached. */
export class VerifiedChains {
  private readonly known: LRUCache<string, { store: TrustStore; path: CertificatePath }>;

  constructor(max: number) {
    this.known = new LRUCache({ max });
  }

  /** @returns the path to an authority, or the reason why there is none */
  pathOf(
    chain: readonly ParsedCertificate[],
    store: TrustStore | null,
    now: number,
  ): CertificatePath | ChainFlaw {
    if (store === null) {
      return 'not-trusted';
    }
    const key = chain.map(({ facts }) => facts.fingerprint).join();
    const known = this.known.get(key);
    if (known?.store === store) {
      return currentFlaw(known.path, store, now) ?? known.path;
    }
    const path = validateChain(chain, store, now);
    if (typeof path !== 'string') {
      this.known.set(key, { store, path });
    }
    return path;
  }
}
