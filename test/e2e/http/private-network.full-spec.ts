import { createCliUser, type CliUser } from '../../fixtures/programs/cli-fixture.js';
import { call } from '../../helpers/client.js';
import { namespaceOfRun } from '../../fixtures/programs/network-namespace-fixture.js';
import { startServer, type Server } from '../../fixtures/programs/server-fixture.js';
import { createEmbeddedStore, type Store } from '../../fixtures/programs/store-fixture.js';
import { freePort } from '../../fixtures/programs/service-process.js';
import { certificateDirectory, TestAuthority } from '../../fixtures/certificates-fixture.js';
import { HttpProxy } from '../../helpers/http-proxy.js';
import { CLIENT, FakeOpenIdProvider } from '../../fakes/openid-provider.js';
import { hashOf } from '../../fixtures/provider-login-fixture.js';

const NAME = 'idp.corp.invalid';
const RETURN_BASE = 'https://app.example/oauth';
const network = namespaceOfRun();
const suite = network.isMade ? describe : describe.skip;

suite('a network that only a proxy connects, with a private authority', () => {
  const directory = certificateDirectory();
  const authority = TestAuthority.root(directory, 'Corp');
  let proxy: HttpProxy;
  let provider: FakeOpenIdProvider;
  let store: Store;
  let server: Server;
  let operator: CliUser;
  let env: Record<string, string>;

  beforeAll(async () => {
    const certificate = authority.issue({ names: [`DNS:${NAME}`], usage: 'serverAuth' });
    provider = await FakeOpenIdProvider.start({ ...certificate, name: NAME });
    proxy = await HttpProxy.start({
      address: network.hostAddress,
      hosts: { [NAME]: '127.0.0.1' },
    });
    const port = await freePort();
    env = {
      ...{ PORT: String(port), HOST: '0.0.0.0', HTTPS_PROXY: proxy.url },
      SERVICE_CA_BUNDLE: authority.certPath,
      SERVICE_PUBLIC_URL: `http://${network.address}:${port}`,
      SERVICE_WEBAPP_OAUTH_RETURN_URL_BASE: RETURN_BASE,
      AUTH_SIGNUP_PROVIDERS: 'corp',
      AUTH_PROVIDERS_CONFIG_JSON: JSON.stringify([
        {
          ...{ id: 'corp', type: 'oidc', issuer: provider.issuer },
          ...{ clientId: CLIENT.id, clientSecret: CLIENT.secret },
        },
      ]),
    };
    operator = await createCliUser(network.enter);
    store = await createEmbeddedStore();
    server = await startServer({ store, env, network });
  });
  afterAll(async () => {
    await server.stop();
    await Promise.all([store.drop(), provider.close(), proxy.close()]);
  });

  it('finishes a login at an external provider through the proxy', async () => {
    const proofHash = hashOf('a-proof-that-is-long-enough-to-be-accepted');
    const query = new URLSearchParams({ mode: 'keyed', proofHash });
    const start = await call(server, 'GET', `/v1/auth/external/corp/params?${query}`);
    const callback = await provider.authorize(new URL(String(start.body['url'])));
    const finished = await fetch(callback, { redirect: 'manual' });
    expect(finished.headers.get('location')).toMatch(/^https:\/\/app\.example\/.*pending=/);
    expect(provider.requests).toEqual(expect.arrayContaining(['/jwks', '/token']));
    expect(new Set(proxy.requests)).toEqual(new Set([new URL(provider.issuer).host]));
  });

  it('checks the provider in doctor, with the proxy and without it', async () => {
    const doctor = ['doctor', 'providers', '--json'];
    const found = await operator.run(doctor, env);
    expect(JSON.parse(found.stdout)).toMatchObject({
      ok: true,
      steps: [{ step: 'discovery' }, { step: 'keys' }, { step: 'client', severity: 'ok' }],
    });
    const direct = await operator.run(doctor, { ...env, NO_PROXY: NAME });
    expect(JSON.parse(direct.stdout)).toMatchObject({
      ok: false,
      steps: [{ step: 'discovery', cause: 'dns_error' }],
    });
  });
});
