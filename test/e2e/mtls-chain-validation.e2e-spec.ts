import { validateChain } from '../../src/auth/mtls/certificate-chain.js';
import { parseCertificate } from '../../src/auth/mtls/parse-certificate.js';
import type { IssuedCertificate } from '../fakes/certificates.js';
import { CHAINS } from './chain-rows/all.js';
import { directory, opensslAccepts, root, type BuiltChain } from './mtls-chain-world.js';

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
