import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  certificateDirectory,
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

  it('refuses a certificate that is revoked, or whose status is unknown', async () => {
    expect((await logInTo(revoking, [issuing.issue({ names }), issuing])).status).toBe(200);
    expect((await logInTo(revoking, [revoked, issuing])).status).toBe(401);
    expect((await logIn(revoked, issuing)).status).toBe(200);
    const unlisted = root.intermediate('Unlisted');
    expect((await logInTo(revoking, [unlisted.issue({ names }), unlisted])).status).toBe(401);
    expect((await logIn(unlisted.issue({ names }), unlisted)).status).toBe(200);
  });
});
