import type { IssuedCertificate } from '../fixtures/certificates-fixture.js';
import { validateChain } from '../../src/core/x509/certificate-chain.js';
import { parseCertificate } from '../../src/core/x509/parse-certificate.js';
import { CHAINS } from './chain-rows/all.js';
import { opensslAccepts, root, type BuiltChain } from './chain-fixture.js';

const parsed = (certificates: readonly IssuedCertificate[]) =>
  certificates.map(({ der }) => parseCertificate(der));

/** The verdict of the library on a chain; null = accepted. */
function flawOf({ leaf, others }: BuiltChain, anchors: readonly IssuedCertificate[]) {
  const sent = parsed([leaf, ...others]).filter((one) => one !== null);
  const known = parsed(anchors).filter((one) => one !== null);
  if (sent.length <= others.length || known.length < anchors.length) {
    return 'undecodable';
  }
  const path = validateChain(sent, { anchors: known, revocations: null }, Date.now());
  return typeof path === 'string' ? path : null;
}

const ROWS = CHAINS.map((row) => ({ ...row, verdict: row.flaw ?? 'accepted' }));

describe('path validation, compared with openssl verify -purpose sslclient', () => {
  it.each(ROWS)('answers $verdict for the chain "$name"', ({ flaw, openssl, build }) => {
    const built = build();
    const anchors = built.anchors ?? [root];
    const ours = flawOf(built, anchors);
    const theirs = opensslAccepts(built, anchors);
    expect({ ours }).toEqual({ ours: flaw === 'chain-too-long' ? 'not-trusted' : flaw });
    if (openssl !== 'varies') {
      expect({ theirs }).toEqual({ theirs: openssl === 'accepts' || flaw === null });
    }
    // The library is never more permissive, whatever the row says.
    expect(theirs || ours !== null).toBe(true);
  });
});
