import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request, type RequestOptions } from 'node:https';
import { connect as openSocket } from 'node:net';
import { join } from 'node:path';
import { answerTo } from '../../helpers/local-server.js';
import {
  certificateDirectory,
  TestAuthority,
  type IssuedCertificate,
} from '../../fixtures/certificates-fixture.js';
import { call, logIn, type Json } from '../../helpers/client.js';
import { startServer } from '../../fixtures/programs/server-fixture.js';
import { waitFor } from '../../helpers/wait.js';
import { AdminTokensFile, adminUrlOf } from '../../fixtures/admin-fixture.js';

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Acme Administrators');
const stranger = TestAuthority.root(directory, 'Another Authority');
const host = authority.issue({ subject: '/CN=gate', names: ['IP:127.0.0.1'], usage: 'serverAuth' });
const alice = authority.issue({ subject: '/O=Acme/CN=alice' });
const rita = authority.issue({ subject: '/O=Acme/CN=rita' });
const nameless = authority.issue({ subject: '/O=Acme' });
const machine = authority.issue({ subject: '/O=Acme/CN=alice', usage: 'serverAuth' });
const forged = stranger.issue({ subject: '/O=Acme/CN=alice' });
const old = authority.issue({ subject: '/CN=Old authority', until: '20200102030405Z' });
const OKTA = {
  ...{ id: 'okta', type: 'oidc', issuer: 'https://okta.example', clientId: 'gate' },
  ...{
    clientSecret: 'a client secret',
    clientSecretExpiresAt: isoDay(Date.now() + 6 * 86_400_000),
  },
};

function isoDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

const path = (name: string): string => join(directory, name);

writeFileSync(path('admin.crt'), host.cert);
writeFileSync(path('admin.key'), host.key);
writeFileSync(path('admin-ca.crt'), authority.cert);
writeFileSync(path('old.crt'), old.cert);
const tokens = await AdminTokensFile.create();
const server = await startServer({
  env: {
    ...tokens.env,
    ADMIN_TLS_CERT_PATH: path('admin.crt'),
    ADMIN_TLS_KEY_PATH: path('admin.key'),
    ADMIN_TLS_CLIENT_CA_PATH: path('admin-ca.crt'),
    ADMIN_TLS_OPERATORS: 'alice',
    SERVICE_CA_BUNDLE: path('old.crt'),
    SERVICE_PUBLIC_URL: 'https://gate.example',
    AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([OKTA]),
  },
});
const url = await adminUrlOf(server);
afterAll(() => server.stop());

describe('client certificates of administrators', () => {
  async function ask(
    own: Partial<IssuedCertificate>,
    route: string,
    { body, ...options }: RequestOptions & { readonly body?: object } = {},
  ): Promise<{ readonly status: number; readonly body: Json }> {
    const { hostname, port } = new URL(url);
    const trusted = { ca: authority.cert, agent: false, cert: own.cert, key: own.key };
    const sent = request({ hostname, port, path: `/admin/v1${route}`, ...trusted, ...options });
    const { status, text } = await answerTo(sent, body && JSON.stringify(body));
    return { status, body: JSON.parse(text) as Json };
  }

  it('identifies the caller by the common name, which may act when it is listed', async () => {
    expect((await ask(alice, '/me')).body).toEqual({
      name: 'certificate:alice',
      role: 'operate',
      method: 'certificate',
    });
    expect((await ask(rita, '/me')).body).toMatchObject({ name: 'certificate:rita', role: 'read' });
    const { accountId } = await logIn(server);
    const act = (own: IssuedCertificate, headers: Readonly<Record<string, string>>) =>
      ask(own, `/accounts/${accountId}/disable`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: { reason: 'left' },
      });
    const own = { 'x-gatehouse-admin': '1' };
    expect((await act(rita, own)).body).toMatchObject({ code: 'admin-role-required' });
    expect((await act(alice, {})).body).toMatchObject({ code: 'origin-not-allowed' });
    const evil = { ...own, origin: 'https://evil.example' };
    expect((await act(alice, evil)).body).toMatchObject({ code: 'origin-not-allowed' });
    expect((await act(alice, { ...own, origin: url })).body).toMatchObject({ changed: true });
    const { body } = await ask(rita, `/audit?accountId=${accountId}&kind=account-disabled`);
    expect(body['events']).toMatchObject([{ actor: 'certificate:alice', reason: 'left' }]);
  });

  it.each([
    ['no certificate', {}],
    ['one of another authority', forged],
    ['one of a server', machine],
    ['one without a common name', nameless],
  ])('refuses %s', async (_what, own) => {
    expect(await ask(own, '/me')).toMatchObject({ status: 401, body: { code: 'missing-token' } });
  });

  it('closes the oldest of more connections than may be in a handshake, and serves callers', async () => {
    const port = Number(new URL(url).port);
    const silent = Array.from({ length: 1100 }, () =>
      openSocket({ port, host: '127.0.0.1' })
        .on('error', () => undefined)
        .resume(),
    );
    await Promise.all(silent.slice(0, 100).map((socket) => once(socket, 'close')));
    expect((await ask(rita, '/me')).status).toBe(200);
    // A time-out would have closed all of them.
    expect(silent.filter(({ closed }) => closed).length).toBeLessThan(200);
    silent.forEach((socket) => socket.destroy());
  });

  it('accepts a token without a certificate, and refuses one with an invalid certificate', async () => {
    const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
    expect((await ask({}, '/me', bearer(tokens.reader))).body).toMatchObject({ name: 'rita' });
    expect((await ask(alice, '/me', bearer('wrong'))).status).toBe(401);
  });

  it('lists what expires, with its day, errors first', async () => {
    const findings = (await ask(rita, '/policy')).body['findings'] as Json[];
    const severities = findings.map(({ severity }) => severity as string);
    const order = ['error', 'warning'];
    expect(severities).toEqual(order.flatMap((one) => severities.filter((it) => it === one)));
    expect(new Set(severities)).toEqual(new Set(order));
    const messages = findings.map(({ message }) => message);
    expect(messages).toContain(
      'The certificate authority "Old authority" of SERVICE_CA_BUNDLE expired on 2020-01-02. Replace it.',
    );
    expect(messages).toContain(
      `The client secret of okta expires on ${OKTA.clientSecretExpiresAt}, in 5 days. Create a new one at the provider.`,
    );
  });

  it('refuses a certificate that expires while its connection is open', async () => {
    const until = new Date(Date.now() + 5000).toISOString().replace(/[-:T]|\.\d+/g, '');
    const brief = authority.issue({ subject: '/O=Acme/CN=brief', until });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await ask(brief, '/me', { agent })).status).toBe(200);
    await waitFor('its end', async () => (await ask(brief, '/me', { agent })).status === 401);
    agent.destroy();
  });

  it('uses changed certificate authorities at once, also for connections that are open', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    expect((await ask(alice, '/me', { agent })).status).toBe(200);
    writeFileSync(path('admin-ca.crt'), 'not a certificate');
    await server.logged(/certificate files of ADMIN_PORT are not used/);
    expect((await ask(alice, '/me')).status).toBe(200);
    writeFileSync(path('admin-ca.crt'), stranger.cert);
    // A request that arrives with the change is cut off, too.
    await waitFor('the other authority', () =>
      ask(forged, '/me').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    expect((await ask(alice, '/me')).status).toBe(401);
    expect((await ask(alice, '/me', { agent })).status).toBe(401);
    agent.destroy();
  });

  it('serves no plain HTTP on the port of administrators', async () => {
    const plain = { url: url.replace('https:', 'http:') };
    await expect(call(plain, 'GET', '/admin/v1/me')).rejects.toThrow();
  });
});
