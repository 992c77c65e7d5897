import { request } from 'node:https';
import { answerTo } from '../../../helpers/local-server.js';
import {
  inChromium,
  useChromium,
  type Visitor,
} from '../../../fixtures/programs/browser-fixture.js';
import { startServer } from '../../../fixtures/programs/server-fixture.js';
import { freePort } from '../../../fixtures/programs/service-process.js';
import {
  accountId,
  createAccount,
  open,
  sees as seesIn,
  seesSignIn,
} from '../account-page-acts.js';
import {
  alice,
  bob,
  chained,
  files,
  issuing,
  publish,
  root,
  volume,
} from '../../../fixtures/tls-listener-fixture.js';
import { mtlsEnv } from '../../../fixtures/certificate-login-fixture.js';

publish(files, 'v1');
const [port, tlsPort] = [await freePort(), await freePort()];
const certificateUrl = `https://127.0.0.1:${tlsPort}`;
const env = mtlsEnv({
  MODE: 'direct',
  TLS_PORT: String(tlsPort),
  TLS_CERT_PATH: `${volume}/..data/tls.crt`,
  TLS_KEY_PATH: `${volume}/..data/tls.key`,
  CA_PATH: `${volume}/..data/ca.crt`,
  PUBLIC_URL: certificateUrl,
  ALLOWED_ISSUERS: 'Acme Issuing CA',
});
const url = `http://127.0.0.1:${port}`;
const server = await startServer({ env: { ...env, PORT: String(port), SERVICE_PUBLIC_URL: url } });
afterAll(() => server.stop());
const visit = useChromium();
let visitor: Visitor;

/** A visitor whose computer holds this certificate, and presents it where it is requested. */
async function holderOf(own: typeof alice, address: string): Promise<void> {
  const { cert, key } = chained(own);
  visitor = await visit(address, {
    ignoreHTTPSErrors: true,
    clientCertificates: [
      { origin: certificateUrl, cert: Buffer.from(cert), key: Buffer.from(key) },
    ],
  });
}

/** The return address of a sign-in with this certificate, its code still unclaimed. */
async function addressWithCodeOf(own: typeof alice): Promise<string> {
  const query = new URLSearchParams({ returnTo: `${server.url}/app/` }).toString();
  const sent = request(`${certificateUrl}/v1/auth/mtls/complete?${query}`, {
    ...chained(own),
    ca: root.cert,
    agent: false,
  });
  const { location = '' } = (await answerTo(sent)).answer.headers;
  expect(location).toContain('/app/?code=');
  return location;
}

const sees = (words: string) => seesIn(visitor, words);
const proceed = () => visitor.press('Continue with the certificate of this device');
const account = () => accountId(visitor);

inChromium('the account page, with a client certificate', () => {
  it('signs in with a certificate on request, and again to the same account', async () => {
    await holderOf(alice, `${certificateUrl}/app`);
    await proceed();
    await sees('Without a device key');
    const number = await account();
    await visitor.press('Sign out');
    await sees('You are signed out.');
    await proceed();
    await sees('Without a device key');
    expect(await account()).toBe(number);
  });

  it('redirects to the address that asks for the certificate, and returns signed in', async () => {
    await holderOf(bob, `${server.url}/app`);
    await proceed();
    await sees('Without a device key');
    expect(visitor.page.url()).toBe(`${server.url}/app/`);
  });

  it('reports that the browser sent no certificate to the proxy', async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { ...mtlsEnv(), PORT: String(port), SERVICE_PUBLIC_URL: url };
    const behindProxy = await startServer({ env });
    try {
      await holderOf(alice, `${url}/app`);
      await proceed();
      await sees('Your browser sent no certificate');
      expect(visitor.page.url()).toBe(`${url}/app/`);
    } finally {
      await behindProxy.stop();
    }
  });

  it('connects a certificate to an account with a device key, and disconnects it', async () => {
    await holderOf(issuing.issue({ names: ['email:carol@corp.example'] }), `${server.url}/app`);
    await createAccount(visitor);
    await open(visitor, 'Security');
    await visitor.press('Connect Certificate');
    await sees('Certificate is connected.');
    const own = await accountId(visitor);
    await open(visitor, 'Security');
    await sees('carol@corp.example');
    await visitor.press('Disconnect Certificate');
    await visitor.press('Disconnect');
    await sees('Certificate is disconnected.');
    await visitor.page.getByRole('button', { name: 'Connect Certificate' }).waitFor();
    await open(visitor, 'Overview');
    expect(await accountId(visitor)).toBe(own);
  });

  it('refuses a code that this tab did not request', async () => {
    const lure = await addressWithCodeOf(bob);
    await holderOf(alice, lure);
    await seesSignIn(visitor);
    expect(visitor.page.url()).toBe(`${server.url}/app/`);
    expect(await visitor.page.evaluate('sessionStorage.length')).toBe(0);
  });
});
