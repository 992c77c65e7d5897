import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  certificateDirectory,
  TestAuthority,
} from '../../../../test/fixtures/certificates-fixture.js';
import { DIRECT } from '../../../../test/fixtures/provider-settings-fixture.js';
import { SteppedClock } from '../../../../test/fixtures/stepped-clock.js';
import { closeServer, listen } from '../../../../test/helpers/local-server.js';
import { waitFor } from '../../../../test/helpers/wait.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { parseCertificate } from '../../../core/x509/parse-certificate.js';
import { issuerKeyOf } from '../../../core/x509/verify-signature.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import { OcspService } from './ocsp.service.js';
import { RevocationListService } from './revocation-list.service.js';

const HOUR_MS = 3_600_000;
const SET_BACK_MS = 200_000;

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Revoking CA');
const own = authority.issue();

/** Answers like the responder of the authority, and to a GET with its revocation list. */
const upstream = createServer((request, response) => {
  void buffer(request).then((question) => {
    if (request.method === 'GET') {
      lists += 1;
      response.end(authority.revocationList());
      return;
    }
    const [asked = '', answer = ''] = ['request', 'response'].map((name) => join(directory, name));
    writeFileSync(asked, question);
    const files = ['-reqin', asked, '-respout', answer];
    execFileSync('openssl', [...authority.respondsAs(), ...files], { stdio: 'pipe' });
    onQuestion();
    response.end(readFileSync(answer));
  });
});
let lists = 0;
let onQuestion = (): void => undefined;
let url: string;
beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(upstream)}`;
});
afterAll(() => closeServer(upstream));

const keptWith = () => {
  onQuestion = () => undefined;
  const clock = new SteppedClock(HOUR_MS);
  clock.setMs = Date.now() - HOUR_MS;
  const { mtls } = resolveSettings({}).settings;
  const settings = { ...mtls, enabled: true, crlFetchSeconds: 300, crlUrls: [`${url}/list`] };
  return { clock, settings, runtime: new Runtime(clock) };
};

/** Asks the responder about a certificate. */
const askerOf = ({ settings, runtime }: ReturnType<typeof keptWith>, der: Buffer) => {
  const service = new OcspService(runtime, DIRECT, settings);
  const parsed = parseCertificate(der);
  const certificate = {
    ...{ authorityKeyId: null, issuerKey: null, crlUrls: [], ocspUrls: [url] },
    issuerName: parsed?.issuerDer.toString('base64') ?? '',
    serialNumber: parsed?.serialNumber ?? '',
  };
  const { publicKey: key } = new X509Certificate(authority.cert);
  const issuer = { name: 'root', key, signsLists: true };
  return () => service.ask(certificate, issuer, [url], false);
};

describe(OcspService, () => {
  it('counts CRL_FETCH_SECONDS from the question, whose answer may be late', async () => {
    const kept = keptWith();
    const late = authority.issue();
    const ask = askerOf(kept, late.der);
    onQuestion = () => (kept.clock.setMs += 300_000);
    expect(await ask()).toMatchObject({ status: 'good' });
    authority.revoke(late);
    expect(await ask()).toMatchObject({ status: 'revoked' });
  });

  it('asks again after CRL_FETCH_SECONDS where the wall clock was set back', async () => {
    const kept = keptWith();
    const { clock } = kept;
    const ask = askerOf(kept, own.der);
    expect(await ask()).toMatchObject({ status: 'good' });
    authority.revoke(own);
    clock.setMs -= SET_BACK_MS;
    await clock.advance(300_000);
    expect(await ask()).toMatchObject({ status: 'revoked' });
  });
});

describe(RevocationListService, () => {
  it('fetches a list again after CRL_FETCH_SECONDS where the wall clock was set back', async () => {
    const { clock, settings, runtime } = keptWith();
    const service = new RevocationListService(runtime, DIRECT, settings);
    const parsed = parseCertificate(authority.der);
    service.learn({
      issuerDer: parsed?.subjectDer ?? Buffer.alloc(0),
      keys: parsed === null ? [] : [issuerKeyOf(parsed)],
    });
    service.fetchDue();
    await waitFor('the first list', () => service.configuredLists().length === 1);
    clock.setMs -= SET_BACK_MS;
    await clock.advance(300_000);
    service.fetchDue();
    await waitFor('the second request', () => lists === 2);
  });
});
