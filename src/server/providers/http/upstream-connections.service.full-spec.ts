import {
  certificateDirectory,
  TestAuthority,
} from '../../../../test/fixtures/certificates-fixture.js';
import { HttpProxy, type ProxyOptions } from '../../../../test/helpers/http-proxy.js';
import { startLocalServer, type LocalServer } from '../../../../test/helpers/local-server.js';
import { PATIENT_LIMITS } from '../../../../test/fixtures/provider-settings-fixture.js';
import { Runtime } from '../../../common/runtime/runtime.js';
import { resolveSettings } from '../../config/resolve-settings.js';
import { UpstreamConnectionsService } from './upstream-connections.service.js';
import { UpstreamHttp } from './upstream-http.js';

/** A name that only the proxy resolves (RFC 2606: no resolver of this machine does). */
const NAME = 'idp.corp.invalid';
const HOSTS = { [NAME]: '127.0.0.1' };

const directory = certificateDirectory();
const authority = TestAuthority.root(directory, 'Corp');
const certificate = authority.issue({ names: [`DNS:${NAME}`], usage: 'serverAuth' });
const answer = { status: 200, json: { ok: true } };
let secure: LocalServer;
let plain: LocalServer;
let proxy: HttpProxy;
let opened: UpstreamConnectionsService[];

beforeAll(async () => {
  secure = await startLocalServer(() => answer, { ...certificate, name: NAME });
  plain = await startLocalServer(() => answer);
});
afterAll(() => Promise.all([secure.close(), plain.close()]));
beforeEach(async () => {
  opened = [];
  proxy = await HttpProxy.start({ hosts: HOSTS });
});
afterEach(async () => {
  await Promise.all(opened.map((connections) => connections.onApplicationShutdown()));
  await proxy.close();
});

/** Creates the client with the variables of an operator. */
function httpWith(environment: Readonly<Record<string, string>>): UpstreamHttp {
  const connections = new UpstreamConnectionsService(resolveSettings(environment).settings.network);
  opened.push(connections);
  return new UpstreamHttp(new Runtime(), connections, {
    ...PATIENT_LIMITS,
    acceptsPlainHttp: true,
  });
}

const SERVICE_CA_BUNDLE = authority.certPath;

describe(UpstreamConnectionsService, () => {
  it('reaches a host that only the proxy resolves, with a certificate that only the bundle trusts', async () => {
    const http = httpWith({ HTTPS_PROXY: proxy.url, SERVICE_CA_BUNDLE });
    expect(await (await http.fetch(secure.url)).json()).toEqual({ ok: true });
    expect(proxy.requests).toEqual([new URL(secure.url).host]);
  });

  it.each(['https_proxy', 'HTTP_PROXY', 'http_proxy'])('uses the proxy of %s', async (name) => {
    const http = httpWith({ [name]: proxy.url, SERVICE_CA_BUNDLE });
    expect((await http.fetch(secure.url)).status).toBe(200);
  });

  it('reads no variables except those of the configuration', async () => {
    const before = process.env;
    process.env = { ...before, HTTPS_PROXY: proxy.url };
    try {
      const direct = httpWith({ SERVICE_CA_BUNDLE }).fetch(secure.url);
      await expect(direct).rejects.toMatchObject({ failure: 'dns_error' });
    } finally {
      process.env = before;
    }
    expect(proxy.requests).toEqual([]);
  });

  it('trusts only the authorities of Node.js without a bundle', async () => {
    const refused = httpWith({ HTTPS_PROXY: proxy.url }).fetch(secure.url);
    await expect(refused).rejects.toMatchObject({ failure: 'tls_error' });
  });

  it('bypasses the proxy for the hosts of NO_PROXY', async () => {
    const given = {
      HTTPS_PROXY: proxy.url,
      SERVICE_CA_BUNDLE,
      NO_PROXY: 'a.example, .corp.invalid',
    };
    const direct = httpWith(given).fetch(secure.url);
    await expect(direct).rejects.toMatchObject({ failure: 'dns_error' });
    expect(proxy.requests).toEqual([]);
  });

  it('forwards plain http without a tunnel', async () => {
    const address = plain.url.replace('127.0.0.1', NAME);
    expect((await httpWith({ HTTP_PROXY: proxy.url }).fetch(address)).status).toBe(200);
    expect(proxy.requests).toEqual([new URL(address).host]);
  });

  it.each<[string, () => string, ProxyOptions]>([
    ['a tunnel', () => secure.url, { refuses: 403 }],
    ['a tunnel without credentials', () => secure.url, { refuses: 407 }],
    ['a request without credentials', () => plain.url, { refuses: 407 }],
  ])('reports a proxy that refuses %s', async (_what, address, options) => {
    const strict = await HttpProxy.start(options);
    const refused = httpWith({ HTTP_PROXY: strict.url, SERVICE_CA_BUNDLE }).fetch(address());
    await expect(refused).rejects.toMatchObject({ failure: 'proxy_error' });
    await strict.close();
  });
});
