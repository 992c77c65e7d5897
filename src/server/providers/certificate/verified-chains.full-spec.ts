import { setImmediate as nextTurn } from 'node:timers/promises';
import type { IssuedCertificate } from '../../../../test/fixtures/certificates-fixture.js';
import type { TrustStore } from '../../../core/x509/certificate-chain.js';
import { issuing, own, root, stranger } from '../../../../test/x509/chain-fixture.js';
import { parseCertificate } from '../../../core/x509/parse-certificate.js';
import { parseRevocationList } from '../../../core/x509/revocation-list.js';
import { VerifiedChains } from './verified-chains.js';

const parsed = (certificates: readonly IssuedCertificate[]) =>
  certificates.map(({ der }) => parseCertificate(der));

describe(VerifiedChains.name, () => {
  const DAY_MS = 86_400_000;
  const leaf = own(issuing);
  const sent = parsed([leaf, issuing]).filter((one) => one !== null);
  const storeOf = (...authorities: IssuedCertificate[]) => ({
    anchors: parsed(authorities).filter((one) => one !== null),
    revocations: null,
  });

  const flawIn = (
    chains: VerifiedChains,
    chain: typeof sent,
    store: TrustStore | null,
    now: number,
  ): string | null => {
    const path = chains.pathOf(chain, store, now);
    return typeof path === 'string' ? path : null;
  };

  it('checks the dates of a cached chain again', () => {
    const chains = new VerifiedChains(10);
    const store = storeOf(root);
    const flaws = [0, 29, 31, 0].map((days) =>
      flawIn(chains, sent, store, Date.now() + days * DAY_MS),
    );
    expect(flaws).toEqual([null, null, 'expired', null]);
  });

  it('judges a chain that it knows again by changed authorities, and by what is revoked', async () => {
    const chains = new VerifiedChains(10);
    const store = storeOf(root);
    const now = Date.now();
    expect(flawIn(chains, sent, store, now)).toBeNull();
    expect(flawIn(chains, sent, storeOf(stranger), now)).toBe('not-trusted');
    expect(flawIn(chains, sent, null, now)).toBe('not-trusted');
    issuing.revoke(leaf);
    const lists = await Promise.all(
      [root, issuing].map((one) =>
        parseRevocationList(one.revocationList(), { maxAgeMs: DAY_MS, nextTurn: () => nextTurn() }),
      ),
    );
    const revoking = { ...store, revocations: lists };
    expect(flawIn(chains, sent, revoking, now)).toBe('revoked');
    const [other] = parsed([own(issuing)]);
    const kept = [other, ...sent.slice(1)].filter((one) => one !== null && one !== undefined);
    // The chain is in the cache, and a revocation list ends it. The time is not `now`, because the
    // certificate is younger.
    const later = Date.now();
    expect([0, 0, 2].map((days) => flawIn(chains, kept, revoking, later + days * DAY_MS))).toEqual([
      null,
      null,
      'revoked',
    ]);
  });
});
