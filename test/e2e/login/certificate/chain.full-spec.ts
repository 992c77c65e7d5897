import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  certificateDirectory,
  NO_KEY_IDS,
  plainRoot,
  selfSigned,
  TestAuthority,
  type IssuedCertificate,
} from '../../../fixtures/certificates-fixture.js';
import { startServer, type Server } from '../../../fixtures/programs/server-fixture.js';
import { callFrom, mtlsEnv, PROXY, urlPem } from '../../../fixtures/certificate-login-fixture.js';

const directory = certificateDirectory();
const root = TestAuthority.root(directory, 'Acme Root');
const issuing = root.intermediate('Acme Issuing CA');
const crlPath = join(directory, 'crl.pem');
const names = ['email:alice@corp.example'];
const revoked = issuing.issue({ names });
issuing.revoke(revoked);
writeFileSync(crlPath, root.revocationList() + issuing.revocationList());

const own = { FORWARDED_PRESET: 'aws-alb-passthrough', CA_PATH: root.certPath };

const server = await startServer({ env: mtlsEnv(own) });
const revoking = await startServer({ env: mtlsEnv({ ...own, CRL_PATH: crlPath }) });
afterAll(() => Promise.all([server.stop(), revoking.stop()]));

describe('certificates that the proxy did not verify', () => {
  const logIn = (...chain: readonly IssuedCertificate[]) => logInTo(server, chain);
  const logInTo = (target: Server, chain: readonly IssuedCertificate[]) =>
    callFrom(PROXY, target, [
      ['x-amzn-mtls-clientcert', urlPem(chain.map(({ cert }) => cert).join(''))],
    ]);

  it('accepts a certificate whose chain leads to an authority of this server', async () => {
    expect((await logIn(issuing.issue({ names }), issuing)).status).toBe(200);
    expect((await logIn(root.issue({ names }))).status).toBe(200);
    // The authorities may follow the leaf in any order, with the root among them.
    expect((await logIn(issuing.issue({ names }), root, issuing)).status).toBe(200);
  });

  it('accepts certificates within the names that their authority may certify', async () => {
    expect((await logIn(...constrained('corp.example'))).status).toBe(200);
  });

  it('accepts certificates below a root of plain openssl req -x509, without a key identifier', async () => {
    const plain = plainRoot(directory);
    const untidy = await startServer({ env: mtlsEnv({ ...own, CA_PATH: plain.certPath }) });
    try {
      const leaf = plain.issue({ names, keyIds: NO_KEY_IDS, usage: null });
      expect((await logInTo(untidy, [leaf])).status).toBe(200);
    } finally {
      await untidy.stop();
    }
  });

  it('accepts as many authorities as the upper one allows', async () => {
    expect((await logIn(...deeper(1))).status).toBe(200);
    expect((await logIn(...deeper(0))).status).toBe(401);
  });

  it('refuses a certificate that is revoked, or whose status is unknown', async () => {
    expect((await logInTo(revoking, [issuing.issue({ names }), issuing])).status).toBe(200);
    expect((await logInTo(revoking, [revoked, issuing])).status).toBe(401);
    expect((await logIn(revoked, issuing)).status).toBe(200);
    const unlisted = root.intermediate('Unlisted');
    expect((await logInTo(revoking, [unlisted.issue({ names }), unlisted])).status).toBe(401);
    expect((await logIn(unlisted.issue({ names }), unlisted)).status).toBe(200);
  });

  const deeper = (pathLength: number): IssuedCertificate[] => {
    const middle = root.intermediate('Middle', pathLength);
    const below = middle.intermediate('Below');
    return [below.issue({ names }), below, middle];
  };
  const constrained = (domain: string): IssuedCertificate[] => {
    const extensions = [
      'basicConstraints=critical,CA:TRUE',
      'keyUsage=critical,keyCertSign,cRLSign',
      `nameConstraints=critical,permitted;email:${domain}`,
    ];
    const request = { subject: '/CN=Constrained', usage: null, extensions };
    const authority = TestAuthority.under(root, request);
    return [authority.issue({ names }), authority];
  };

  it.each([
    ['self-signed', () => [selfSigned(directory, 'self', names.join())]],
    ['without their intermediate', () => [issuing.issue({ names })]],
    [
      'of another root of the same name',
      () => {
        const other = TestAuthority.root(join(directory, 'Acme-Acme-Root'), 'Acme Root');
        return [other.issue({ names }), other];
      },
    ],
    [
      'below one that is no authority',
      () => {
        const person = root.issue({ names, extensions: ['basicConstraints=critical,CA:FALSE'] });
        return [TestAuthority.of(person, directory).issue({ names }), person];
      },
    ],
    ['outside the names that their authority may certify', () => constrained('other.example')],
    [
      'of too many',
      () => [issuing.issue({ names }), ...Array<IssuedCertificate>(10).fill(issuing)],
    ],
  ])('refuses certificates that are %s', async (_, make) => {
    expect(await logIn(...make())).toMatchObject({ status: 401, body: { code: 'mtls-required' } });
  });
});
