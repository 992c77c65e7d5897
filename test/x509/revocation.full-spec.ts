import { execFileSync } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  encodeOcspRequest,
  readOcspResponse,
  type OcspQuestion,
} from '../../src/core/x509/ocsp-message.js';
import { parseCertificate } from '../../src/core/x509/parse-certificate.js';
import {
  ENTRIES_AT_ONCE,
  parseRevocationList,
  parseRevocationListDer,
  searchLists,
  type ListedCertificate,
  type RevocationList,
} from '../../src/core/x509/revocation-list.js';
import { issuerKeyOf } from '../../src/core/x509/verify-signature.js';
import {
  certificateDirectory,
  TestAuthority,
  type IssuedCertificate,
} from '../fixtures/certificates-fixture.js';
import { responseWith } from './ocsp-responses.js';
import { changedList, extension } from '../fixtures/revocation-lists-fixture.js';

/** An arc for documentation (RFC 5612). */
const UNKNOWN = '1.3.6.1.4.1.32473.1';
const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Revoking CA');
/** Another key under the same name. */
const impostor = TestAuthority.root(mkdtempSync(join(directory, 'other-')), 'Revoking CA');
const [good, revoked, delegate] = [
  authority.issue(),
  authority.issue(),
  authority.issue({ usage: 'OCSPSigning' }),
];
authority.revoke(revoked);

const parsed = ({ der }: Pick<IssuedCertificate, 'der'>) => {
  const certificate = parseCertificate(der);
  if (certificate === null) {
    throw new Error('The certificate cannot be parsed.');
  }
  return certificate;
};
const keyOf = ({ cert }: IssuedCertificate) => new X509Certificate(cert).publicKey;

describe('revocation lists', () => {
  const HOUR_MS = 3_600_000;
  const READING = { maxAgeMs: HOUR_MS, nextTurn: () => nextTurn() };
  const listed = (own: IssuedCertificate, more: Partial<ListedCertificate> = {}) => {
    const { issuerDer, serialNumber } = parsed(own);
    const issuerKeys = [issuerKeyOf(parsed(authority))];
    return { issuerDer, serialNumber, issuerKeys, crlUrls: [], isAuthority: false, ...more };
  };
  const read = (pem: string) => parseRevocationList(pem, { ...READING, maxAgeMs: 24 * HOUR_MS });
  const now = Date.now();
  let list: RevocationList;
  beforeAll(async () => {
    list = await read(authority.revocationList());
  });

  it('finds a revoked certificate in a list of openssl, and a good one until nextUpdate', () => {
    expect(searchLists(listed(good), [list], now)).toBe('good');
    expect(searchLists(listed(revoked), [list], now)).toBe('revoked');
    expect(searchLists(listed(good), [], now)).toBe('missing');
    const after = now + 2 * 86_400_000;
    expect(searchLists(listed(good), [list], after)).toBe('expired');
    expect(searchLists(listed(revoked), [list], after)).toBe('revoked');
  });

  it('ignores a list for a certificate outside its scope', () => {
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

  it('refuses a list whose signature is forged', async () => {
    const serialNumbers = [parsed(good).serialNumber];
    const forged = await read(changedList(authority, { signer: impostor, serialNumbers }));
    expect(forged.issuerDer.equals(list.issuerDer)).toBe(true);
    for (const own of [good, revoked]) {
      expect(searchLists(listed(own), [forged], now)).toBe('missing');
      expect(searchLists(listed(own, { issuerKeys: [] }), [list], now)).toBe('unverifiable');
    }
    expect(searchLists(listed(revoked), [forged, list], now)).toBe('revoked');
    expect(searchLists(listed(good), [forged, list], now)).toBe('good');
    const genuine = await read(changedList(authority, { serialNumbers }));
    expect(searchLists(listed(good), [genuine], now)).toBe('revoked');
  });

  it('refuses a list of an authority whose key usage excludes lists', () => {
    const [key] = listed(good).issuerKeys;
    const issuerKeys = key === undefined ? [] : [{ ...key, signsLists: false }];
    expect(searchLists(listed(revoked, { issuerKeys }), [list], now)).toBe('missing');
    const limited = TestAuthority.of(
      authority.certify(TestAuthority.root(directory, 'Limited CA')),
      directory,
    );
    expect(issuerKeyOf(parsed(limited)).signsLists).toBe(false);
  });

  it('refuses a list that was issued more than five minutes ahead', async () => {
    const ahead = await read(
      changedList(authority, {
        thisUpdate: new Date(now + 6 * 60_000),
        nextUpdate: new Date(now + HOUR_MS),
      }),
    );
    expect(searchLists(listed(revoked), [ahead], now)).toBe('missing');
    expect(searchLists(listed(revoked), [ahead], now + 2 * 60_000)).toBe('revoked');
  });

  it('limits a list without nextUpdate to the longest age', async () => {
    const thisUpdate = new Date(now);
    const text = changedList(authority, { thisUpdate, nextUpdate: null });
    const endless = await parseRevocationList(text, READING);
    expect(searchLists(listed(good), [endless], now + HOUR_MS - 1000)).toBe('good');
    expect(searchLists(listed(good), [endless], now + HOUR_MS + 1000)).toBe('expired');
    expect(searchLists(listed(revoked), [endless], now + HOUR_MS + 1000)).toBe('revoked');
  });

  it.each([
    ['a delta list', { extension: extension('2.5.29.27', true, '020101') }],
    ['an indirect list', { extension: extension('2.5.29.28', true, '30038401ff') }],
    ['a list with an unknown critical extension', { extension: extension(UNKNOWN, true, '0500') }],
    [
      'a list with an unknown critical extension of an entry',
      { entryExtension: extension(UNKNOWN, true, '0500') },
    ],
  ])('refuses %s', async (_name, changes) => {
    const unusable = await read(changedList(authority, changes));
    expect(searchLists(listed(good), [unusable], now)).toBe('missing');
    expect(searchLists(listed(revoked), [unusable], now)).toBe('missing');
  });

  it('accepts a list with unknown extensions that are not critical', async () => {
    const more = extension(UNKNOWN, false, '0500');
    const usable = await read(changedList(authority, { extension: more, entryExtension: more }));
    expect(searchLists(listed(good), [usable], now)).toBe('good');
    expect(searchLists(listed(revoked), [usable], now)).toBe('revoked');
  });

  it('reads a long list in slices, so that other work of the event loop continues', async () => {
    const count = 50 * ENTRIES_AT_ONCE;
    const serialNumbers = Array.from({ length: count }, (_, index) =>
      (index + 0x10_0000).toString(16).padStart(6, '0'),
    );
    const long = changedList(authority, { serialNumbers });
    let turns = 0;
    let next = setImmediate(function turn() {
      turns += 1;
      next = setImmediate(turn);
    });
    const { serialNumbers: found } = await read(long);
    clearImmediate(next);
    expect(found.size).toBe(count);
    expect(turns).toBeGreaterThanOrEqual(49);
  });

  it('refuses a list that is cut, followed by more bytes, or something else', async () => {
    const der = Buffer.from(authority.revocationList().replace(/-----[^-]+-----/g, ''), 'base64');
    for (const bytes of [
      Buffer.alloc(0),
      der.subarray(0, -1),
      Buffer.concat([der, Buffer.of(0)]),
      good.der.subarray(0, 10),
      Buffer.from('<html>'),
    ]) {
      await expect(parseRevocationListDer(bytes, READING)).rejects.toThrow();
    }
  });
});

describe('OCSP responses', () => {
  const questionAbout = (own: IssuedCertificate): OcspQuestion => ({
    issuerName: parsed(own).issuerDer,
    issuerKey: keyOf(authority),
    serialNumber: parsed(own).serialNumber,
    nonce: randomBytes(16),
  });
  const answer = (
    question: OcspQuestion,
    signer: Pick<IssuedCertificate, 'certPath' | 'keyPath'> = authority,
    more: readonly string[] = [],
  ): Buffer => {
    const [request, response] = ['request', 'response'].map((name) => join(directory, name));
    writeFileSync(request ?? '', encodeOcspRequest(question));
    const files = ['-reqin', request ?? '', '-respout', response ?? ''];
    execFileSync('openssl', [...authority.respondsAs(signer), ...files, ...more], {
      stdio: 'pipe',
    });
    return readFileSync(response ?? '');
  };
  const now = Date.now();

  it('reads good, revoked and unknown from responses of openssl', () => {
    const [one, other] = [questionAbout(good), questionAbout(revoked)];
    expect(readOcspResponse(answer(one), one, now)).toEqual({ status: 'good', until: null });
    expect(readOcspResponse(answer(other), other, now)).toMatchObject({ status: 'revoked' });
    const unknown = { ...questionAbout(good), serialNumber: 'ff01' };
    expect(readOcspResponse(answer(unknown), unknown, now)).toEqual({
      status: 'unknown',
      reason: 'ocsp_unknown',
    });
  });

  it('refuses a response that is signed with SHA-1', () => {
    const question = questionAbout(good);
    expect(readOcspResponse(answer(question, authority, ['-rmd', 'sha1']), question, now)).toEqual({
      status: 'unknown',
      reason: 'ocsp_invalid',
    });
  });

  it('accepts a responder that the authority certified for OCSP, and no other', () => {
    const question = questionAbout(good);
    expect(readOcspResponse(answer(question, delegate), question, now)).toMatchObject({
      status: 'good',
    });
    const invalid = { status: 'unknown', reason: 'ocsp_invalid' };
    expect(readOcspResponse(answer(question, good), question, now)).toEqual(invalid);
    expect(readOcspResponse(answer(question, impostor), question, now)).toEqual(invalid);
  });

  it('refuses a responder that is expired, of another issuer, or whose key may not sign', () => {
    const question = questionAbout(good);
    const usage = 'OCSPSigning';
    const keyUsage = (value: string) => authority.issue({ usage, extensions: [value] });
    const fit = keyUsage('keyUsage=critical,digitalSignature');
    expect(readOcspResponse(answer(question, fit), question, Date.now())).toMatchObject({
      status: 'good',
    });
    for (const unfit of [
      keyUsage('keyUsage=critical,keyEncipherment'),
      authority.issue({ usage, extensions: [`${UNKNOWN}=critical,ASN1:NULL`] }),
      authority.issue({ usage, from: '20200101000000Z', until: '20210101000000Z' }),
      TestAuthority.under(authority, {
        usage: null,
        extensions: ['basicConstraints=critical,CA:TRUE'],
      }).issue({ usage }),
    ]) {
      expect(readOcspResponse(answer(question, unfit), question, Date.now())).toEqual({
        status: 'unknown',
        reason: 'ocsp_invalid',
      });
    }
  });

  it.each(['response', 'single'] as const)(
    'refuses an unknown extension of the %s only where it is critical',
    (place) => {
      const question = questionAbout(good);
      const read = (isCritical: boolean) =>
        readOcspResponse(
          responseWith(answer(question), authority, place, extension(UNKNOWN, isCritical, '0500')),
          question,
          now,
        );
      expect(read(false)).toMatchObject({ status: 'good' });
      expect(read(true)).toEqual({ status: 'unknown', reason: 'ocsp_invalid' });
    },
  );

  it('refuses a response of another nonce, certificate, issuer or time', () => {
    const question = questionAbout(good);
    const response = answer(question, authority, ['-ndays', '1']);
    const invalid = { status: 'unknown', reason: 'ocsp_invalid' };
    const read = (changes: Partial<OcspQuestion>, at = now) =>
      readOcspResponse(response, { ...question, ...changes }, at);
    expect(read({})).toMatchObject({ status: 'good', until: expect.any(Number) });
    expect(read({ nonce: randomBytes(16) })).toEqual(invalid);
    expect(read({ serialNumber: parsed(revoked).serialNumber })).toEqual(invalid);
    expect(read({ issuerKey: keyOf(impostor) })).toEqual(invalid);
    expect(read({}, now + 2 * 86_400_000)).toEqual({ status: 'unknown', reason: 'ocsp_outdated' });
    expect(read({}, now - 86_400_000)).toEqual({ status: 'unknown', reason: 'ocsp_outdated' });
    const momentary = answer(question);
    expect(readOcspResponse(momentary, question, now + 2 * 3_600_000)).toMatchObject({
      reason: 'ocsp_outdated',
    });
  });

  it('refuses a response that is cut, something else, or the error of a responder', () => {
    const question = questionAbout(good);
    const response = answer(question);
    for (const bytes of [Buffer.alloc(0), response.subarray(0, -1), Buffer.from('<html>')]) {
      expect(readOcspResponse(bytes, question, now)).toMatchObject({ status: 'unknown' });
    }
    // tryLater (RFC 6960, 4.2.1).
    expect(readOcspResponse(Buffer.from('30030a0103', 'hex'), question, now)).toEqual({
      status: 'unknown',
      reason: 'ocsp_refused',
    });
  });
});
