import {
  validateChain,
  VerifiedChains,
  type TrustStore,
} from '../../src/providers/certificate/certificate-chain.js';
import { parseCertificate } from '../../src/providers/certificate/parse-certificate.js';
import { parseRevocationList } from '../../src/providers/certificate/revocation-list.js';
import type { IssuedCertificate } from '../fakes/certificates.js';
import { CHAINS } from './chain-rows/all.js';
import {
  directory,
  issuing,
  opensslAccepts,
  own,
  root,
  stranger,
  type BuiltChain,
} from './mtls-chain-world.js';

afterAll(() => directory.remove());

const parsed = (certificates: readonly IssuedCertificate[]) =>
  certificates.map(({ der }) => parseCertificate(der));

/** What this server finds wrong with a chain; null when it accepts. */
function flawOf({ leaf, others }: BuiltChain, anchors: readonly IssuedCertificate[]) {
  const sent = parsed([leaf, ...others]).filter((one) => one !== null);
  const known = parsed(anchors).filter((one) => one !== null);
  if (sent.length <= others.length || known.length < anchors.length) {
    return 'undecodable';
  }
  const path = validateChain(sent, { anchors: known, revocations: null }, Date.now());
  return typeof path === 'string' ? path : null;
}

describe('path validation, beside openssl verify -purpose sslclient -x509_strict', () => {
  it.each(CHAINS)('$name: $flaw', ({ flaw, openssl, build }) => {
    const built = build();
    const anchors = built.anchors ?? [root];
    const ours = flawOf(built, anchors);
    const theirs = opensslAccepts(built, anchors);
    expect({ ours }).toEqual({ ours: flaw === 'chain-too-long' ? 'not-trusted' : flaw });
    if (openssl !== 'varies') {
      expect({ theirs }).toEqual({ theirs: openssl === 'accepts' || flaw === null });
    }
    // Never more permissive, whatever the row says.
    expect(theirs || ours !== null).toBe(true);
  });
});

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

  it('judges the dates of a chain that it knows again', () => {
    const chains = new VerifiedChains(10);
    const store = storeOf(root);
    const flaws = [0, 29, 31, 0].map((days) =>
      flawIn(chains, sent, store, Date.now() + days * DAY_MS),
    );
    expect(flaws).toEqual([null, null, 'expired', null]);
  });

  it('judges a chain that it knows again by changed authorities, and by what is revoked', () => {
    const chains = new VerifiedChains(10);
    const store = storeOf(root);
    const now = Date.now();
    expect(flawIn(chains, sent, store, now)).toBeNull();
    expect(flawIn(chains, sent, storeOf(stranger), now)).toBe('not-trusted');
    expect(flawIn(chains, sent, null, now)).toBe('not-trusted');
    issuing.revoke(leaf);
    const lists = [root, issuing].map((one) => parseRevocationList(one.revocationList()));
    const revoking = { ...store, revocations: lists };
    expect(flawIn(chains, sent, revoking, now)).toBe('revoked');
    const [other] = parsed([own(issuing)]);
    const kept = [other, ...sent.slice(1)].filter((one) => one !== null && one !== undefined);
    // Passed and remembered; a list ends all the same. Not `now`: the certificate is younger.
    const later = Date.now();
    expect([0, 0, 2].map((days) => flawIn(chains, kept, revoking, later + days * DAY_MS))).toEqual([
      null,
      null,
      'revoked',
    ]);
  });
});
