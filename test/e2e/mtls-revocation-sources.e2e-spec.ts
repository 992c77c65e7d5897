import { execFileSync } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  encodeOcspRequest,
  readOcspResponse,
  type OcspQuestion,
} from '../../src/providers/certificate/ocsp-message.js';
import { parseCertificate } from '../../src/providers/certificate/parse-certificate.js';
import {
  isListSignedBy,
  parseRevocationList,
  parseRevocationListDer,
  searchLists,
  type ListedCertificate,
} from '../../src/providers/certificate/revocation-list.js';
import {
  certificateDirectory,
  TestAuthority,
  type IssuedCertificate,
} from '../fakes/certificates.js';

const directory = certificateDirectory();
const authority = TestAuthority.root(directory.path, 'Revoking CA');
/** Another key under the same name. */
const impostor = TestAuthority.root(mkdtempSync(join(directory.path, 'other-')), 'Revoking CA');
const [good, revoked, delegate] = [
  authority.issue(),
  authority.issue(),
  authority.issue({ usage: 'OCSPSigning' }),
];
authority.revoke(revoked);

afterAll(() => directory.remove());

const parsed = ({ der }: IssuedCertificate) => {
  const certificate = parseCertificate(der);
  if (certificate === null) {
    throw new Error('The certificate cannot be parsed.');
  }
  return certificate;
};
const keyOf = ({ cert }: IssuedCertificate) => new X509Certificate(cert).publicKey;

describe('a revocation list of openssl', () => {
  const listed = (own: IssuedCertificate, more: Partial<ListedCertificate> = {}) => {
    const { issuerDer, serialNumber } = parsed(own);
    return { issuerDer, serialNumber, crlUrls: [], isAuthority: false, ...more };
  };
  const list = parseRevocationList(authority.revocationList());
  const now = Date.now();

  it('says who is revoked, and for how long it counts', () => {
    expect(searchLists(listed(good), [list], now)).toBe('good');
    expect(searchLists(listed(revoked), [list], now)).toBe('revoked');
    expect(searchLists(listed(good), [], now)).toBe('missing');
    const after = now + 2 * 86_400_000;
    expect(searchLists(listed(good), [list], after)).toBe('expired');
    expect(searchLists(listed(revoked), [list], after)).toBe('revoked');
  });

  it('says nothing of certificates outside its scope', () => {
    const point = 'http://pki.example/a.crl';
    const partial = { ...list, isPartial: true };
    expect(searchLists(listed(good), [partial], now)).toBe('missing');
    expect(searchLists(listed(revoked), [partial], now)).toBe('revoked');
    const pointed = { ...list, points: [point] };
    expect(searchLists(listed(good), [pointed], now)).toBe('missing');
    expect(searchLists(listed(good, { crlUrls: [point] }), [pointed], now)).toBe('good');
    const ofAuthorities = { ...list, covers: 'authorities' as const };
    expect(searchLists(listed(good), [ofAuthorities], now)).toBe('missing');
    expect(searchLists(listed(good, { isAuthority: true }), [ofAuthorities], now)).toBe('good');
  });

  it('is believed with the signature of its authority alone', () => {
    expect(isListSignedBy(list, keyOf(authority), 'own')).toBe(true);
    expect(isListSignedBy(list, keyOf(impostor), 'other')).toBe(false);
    const der = Buffer.from(authority.revocationList().replace(/-----[^-]+-----/g, ''), 'base64');
    der[der.indexOf(Buffer.from(parsed(revoked).serialNumber, 'hex'))]! ^= 1;
    const changed = parseRevocationListDer(der);
    expect(searchLists(listed(revoked), [changed], now)).toBe('good');
    expect(isListSignedBy(changed, keyOf(authority), 'own')).toBe(false);
  });

  it('is refused when it is cut, followed by more, or something else', () => {
    const der = Buffer.from(authority.revocationList().replace(/-----[^-]+-----/g, ''), 'base64');
    for (const bytes of [
      Buffer.alloc(0),
      der.subarray(0, -1),
      Buffer.concat([der, Buffer.of(0)]),
      good.der.subarray(0, 10),
      Buffer.from('<html>'),
    ]) {
      expect(() => parseRevocationListDer(bytes)).toThrow();
    }
  });
});

describe('an OCSP responder of openssl', () => {
  const question = (own: IssuedCertificate): OcspQuestion => ({
    issuerName: parsed(own).issuerDer,
    issuerKey: keyOf(authority),
    serialNumber: parsed(own).serialNumber,
    nonce: randomBytes(16),
  });
  const answer = (
    asked: OcspQuestion,
    signer: Pick<IssuedCertificate, 'certPath' | 'keyPath'> = authority,
    more: readonly string[] = [],
  ): Buffer => {
    const [request, response] = ['request', 'response'].map((name) => join(directory.path, name));
    writeFileSync(request ?? '', encodeOcspRequest(asked));
    const files = ['-reqin', request ?? '', '-respout', response ?? ''];
    execFileSync('openssl', [...authority.respondsAs(signer), ...files, ...more], {
      stdio: 'pipe',
    });
    return readFileSync(response ?? '');
  };
  const now = Date.now();

  it('says who is revoked', () => {
    const [one, other] = [question(good), question(revoked)];
    expect(readOcspResponse(answer(one), one, now)).toEqual({ status: 'good', until: null });
    expect(readOcspResponse(answer(other), other, now)).toMatchObject({ status: 'revoked' });
    const unknown = { ...question(good), serialNumber: 'ff01' };
    expect(readOcspResponse(answer(unknown), unknown, now)).toEqual({
      status: 'unknown',
      reason: 'ocsp_unknown',
    });
  });

  it('may be one that the authority certified for that, and no other', () => {
    const asked = question(good);
    expect(readOcspResponse(answer(asked, delegate), asked, now)).toMatchObject({ status: 'good' });
    const invalid = { status: 'unknown', reason: 'ocsp_invalid' };
    expect(readOcspResponse(answer(asked, good), asked, now)).toEqual(invalid);
    expect(readOcspResponse(answer(asked, impostor), asked, now)).toEqual(invalid);
  });

  it('is believed about the question alone, while the answer is current', () => {
    const asked = question(good);
    const response = answer(asked, authority, ['-ndays', '1']);
    const invalid = { status: 'unknown', reason: 'ocsp_invalid' };
    const read = (changes: Partial<OcspQuestion>, at = now) =>
      readOcspResponse(response, { ...asked, ...changes }, at);
    expect(read({})).toMatchObject({ status: 'good', until: expect.any(Number) });
    expect(read({ nonce: randomBytes(16) })).toEqual(invalid);
    expect(read({ serialNumber: parsed(revoked).serialNumber })).toEqual(invalid);
    expect(read({ issuerKey: keyOf(impostor) })).toEqual(invalid);
    expect(read({}, now + 2 * 86_400_000)).toEqual({ status: 'unknown', reason: 'ocsp_outdated' });
    expect(read({}, now - 86_400_000)).toEqual({ status: 'unknown', reason: 'ocsp_outdated' });
    const momentary = answer(asked);
    expect(readOcspResponse(momentary, asked, now + 2 * 3_600_000)).toMatchObject({
      reason: 'ocsp_outdated',
    });
  });

  it('that sends something else is no answer', () => {
    const asked = question(good);
    const response = answer(asked);
    for (const bytes of [Buffer.alloc(0), response.subarray(0, -1), Buffer.from('<html>')]) {
      expect(readOcspResponse(bytes, asked, now)).toMatchObject({ status: 'unknown' });
    }
    // tryLater (RFC 6960, 4.2.1).
    expect(readOcspResponse(Buffer.from('30030a0103', 'hex'), asked, now)).toEqual({
      status: 'unknown',
      reason: 'ocsp_refused',
    });
  });
});
